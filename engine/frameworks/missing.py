"""The error for a framework that is not installed."""

from __future__ import annotations

from engine.base.errors import SystemFailureError


def missing(package: str, extra: str, error: ImportError) -> SystemFailureError:
    """Return the error to raise if the package of a framework cannot be imported.

    Args:
        package: The name of the package on the package index.
        extra: The extra of memroot that installs the package.
        error: The error of the import; its text says which module is missing.
    """
    return SystemFailureError(
        f"this adapter needs the package {package}, which cannot be imported: {error}",
        hint=f"pip install 'memroot[{extra}]'",
    )
