# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as Python exceptions that carry the library's own sentence.

Every exception is an `XstageError` and, beside it, the built-in exception a Python reader expects: a value outside its
range is a `ValueError`, a missing file an `OSError`, a wait that ran out a `TimeoutError`. `status` is the C name
("ERR_RANGE"), `line` the 1-based line of the file the sentence speaks of, 0 where there is none.
"""

from __future__ import annotations


class XstageError(Exception):
    """Base of all exceptions of this package."""

    status = "ERR"
    line = 0


class UsageError(XstageError, ValueError):
    """An argument is not valid."""

    status = "ERR_USAGE"


class ParseError(XstageError, ValueError):
    """A text does not follow its format."""

    status = "ERR_PARSE"


class RangeError(XstageError, ValueError):
    """A value is outside its range."""

    status = "ERR_RANGE"


class SchemaError(XstageError, ValueError):
    """A document has a schema this version does not read."""

    status = "ERR_SCHEMA"


class NoDataError(XstageError, LookupError):
    """The data do not contain what is needed."""

    status = "ERR_NO_DATA"


class ExistsError(XstageError, FileExistsError):
    """The output file already exists."""

    status = "ERR_EXISTS"


class FileError(XstageError, OSError):
    """A file could not be read or written."""

    status = "ERR_IO"


class OutOfMemoryError(XstageError, MemoryError):
    """Out of memory, on the host or on a device."""

    status = "ERR_MEMORY"


class DeviceError(XstageError, RuntimeError):
    """The device reported an error."""

    status = "ERR_DEVICE"


class WaitTimeoutError(XstageError, TimeoutError):
    """A bounded wait ran out."""

    status = "ERR_TIMEOUT"


class InterruptedCallError(XstageError, RuntimeError):
    """Interrupted before the end."""

    status = "ERR_INTERRUPTED"


class UnavailableError(XstageError, RuntimeError):
    """Not possible on this machine or in this build: no library, no driver, no such device."""

    status = "ERR_UNAVAILABLE"


BY_STATUS: dict[int, type[XstageError]] = {
    -1: UsageError,
    -2: ParseError,
    -3: RangeError,
    -4: SchemaError,
    -5: NoDataError,
    -6: ExistsError,
    -7: FileError,
    -8: OutOfMemoryError,
    -9: DeviceError,
    -10: WaitTimeoutError,
    -11: InterruptedCallError,
    -12: UnavailableError,
}


def error_of(status: int, sentence: str, line: int = 0) -> XstageError:
    """The exception for a C status."""
    error = BY_STATUS.get(status, XstageError)(sentence)
    error.line = line
    return error
