# SPDX-License-Identifier: Apache-2.0
"""Property tests are repeatable: the same examples on every run, no data base beside the tests."""
from hypothesis import settings

settings.register_profile("xstage", derandomize=True, database=None, deadline=None, max_examples=400)
settings.load_profile("xstage")


def pytest_sessionfinish(session, exitstatus):
    """A file whose every test is skipped says 77, "not possible here": skipped is not passed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus in (0, 5) and reporter and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = 77
