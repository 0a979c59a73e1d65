# SPDX-License-Identifier: Apache-2.0
"""Property tests are repeatable: the same examples on every run, no data base beside the tests."""
from hypothesis import settings

settings.register_profile("xstage", derandomize=True, database=None, deadline=None, max_examples=400)
settings.load_profile("xstage")
