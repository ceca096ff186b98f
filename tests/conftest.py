"""How properties are tested everywhere: no test may fail for being slow on a busy machine."""

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

pytest_plugins = ["tests.support.command_line", "tests.support.scratch"]
