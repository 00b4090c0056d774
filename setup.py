"""The wheel carries the claims of the papers, so that `virtperf claim` works outside a repository."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithClaims(build_py):
    """Copies what is hand-written of papers to `virtperf/papers`, in the layout of a repository."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        root = Path(__file__).parent
        published = root / "data" / "published"
        files = [published.parent / "readings.yaml"]
        for pattern in ("*/study.yaml", "*/claims.yaml", "*/tables/*"):
            files += published.glob(pattern)
        for path in files:
            copy = Path(self.build_lib, "virtperf", "papers", path.relative_to(root))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


setup(cmdclass={"build_py": WithClaims})
