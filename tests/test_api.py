"""What can be said of a name from the source alone: there, gone, or not known; and never gone where it is not sure."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tracker.api import Api, State

FILES = {
    "p/__init__.py": """
from p import sub as sub, other
from p._src.impl import f as f, Class as Class, value as value, mod_alias as mod_alias
from p._src.star import *
import p.sub as alias
import numpy as np
import elsewhere.deep
from elsewhere import thing as thing
import typing
if typing.TYPE_CHECKING:
    from p._src.impl import only_typed as only_typed
left, right = 1, 2
try:
    import fast
except ImportError:
    fast = None
__version__ = "1"
# a comment that speaks of spoken
def local():
    global made_later
    made_later = spelt = "spelt_out"
    raise ValueError("nothing of uttered is here")
""",
    "p/sub/__init__.py": "from p._src.impl import g as g\n",
    "p/sub/deep.py": "x = 1\n",
    "p/other.py": "y = 1\n",
    "p/compiled.pyi": "def z(): ...\n",
    "p/space/inner.py": "w = 1\n",
    "p/old.py": """
from p._src.deprecations import make as _make
_table = {
    # a comment
    "taken_out": ("p.old.taken_out was removed. Use p.f.", None),
    "still_there": (
        "p.old.still_there is deprecated"
        " and will go.",
        print,
    ),
    'quoted': ('gone', None),
}
if typing.TYPE_CHECKING:
    from p._src.impl import f as still_there
else:
    __getattr__ = _make(__name__, _table)
del _make
""",
    "p/lazy.py": "def __getattr__(name):\n    return object()\n",
    "p/lazier.py": "from q import attach\n__getattr__ = attach(__name__, ['a'], {})\n",
    "p/forward.py": "from p import f\n__getattr__ = f.get\n",
    "p/odd.py": "_t = {'a': b}\n__getattr__ = make(__name__, _t)\n",
    "p/made.py": "for n in 'abc':\n    globals()[n] = 1\n",
    "p/broken.py": "def (:\n",
    "p/newer.py": "type X = int\n",
    "p/foreign_star.py": "from elsewhere import *\n",
    "p/star_of_star.py": "from p._src.star import *\nfrom p.circle import *\n",
    "p/circle.py": "from p.star_of_star import *\n",
    "p/relative.py": "from ._src import impl\nfrom .sub import g\nfrom . import other as o\n",
    "p/__main__.py": "",
    "p/_src/__init__.py": "",
    "p/_src/impl.py": """
from p import other as mod_alias
def f(): pass
def g(): pass
value = Class()
class Base:
    def inherited(self): pass
class Class(Base):
    field: int = 1
    def method(self): pass
""",
    "p/_src/star.py": "starred = 1\nfrom p._src.impl import g as h\n",
    "tests/p_test.py": "import p\n",
    "setup.py": "",
}


def api(files: dict[str, str] = FILES, scope: tuple[str, ...] = ("p/other.py",)) -> Api:
    return Api(files, lambda path: files[path].encode(), scope)


def words(text: str) -> list[str]:
    return text.split()


THERE = words(
    """
    p.sub p.other p.f p.Class p.value p.starred p.h p.alias.g p.np p.thing p.elsewhere p.fast p.__version__
    p.__name__ p.__doc__ p.sub.g p.sub.deep p.sub.deep.x p.space p.space.inner.w p._src.impl.f p.old.still_there
    p.Class.method p.Class.field p.mod_alias.y p.old.__getattr__ p.star_of_star.starred p.relative.impl.g
    p.relative.g p.relative.o.y p.broken p.lazy p.compiled
    """
)
GONE = {
    "p.nothing": "p has no nothing",
    "p.spoken": "p has no spoken",
    "p.uttered": "p has no uttered",
    "p.sub.nothing": "p.sub has no nothing",
    "p.nothing.at.all": "p has no nothing",
    "p.alias.nothing": "p.sub has no nothing",
    "p.mod_alias.nothing": "p.other has no nothing",
    "p.old.taken_out": "p.old.taken_out was removed. Use p.f.",
    "p.old.quoted": "gone",
    "p.old.nothing": "p.old has no nothing",
    "p.relative.o.nothing": "p.other has no nothing",
    "p.old.taken_out.more": "p.old.taken_out was removed. Use p.f.",
}
UNKNOWN = words(
    """
    p.space.nothing p.left p.right p.made_later p.spelt p.spelt_out p.only_typed p.lazy.any p.lazier.any
    p.lazier.a p.forward.any p.odd.any p.made.a p.made.z p.broken.any p.newer.any p.foreign_star.any p.thing.any
    p.np.zeros p.f.attribute p.value.anything p.value.field p.Class.inherited p.Class.nothing p.Class.field.real
    p.compiled.z p.compiled.nothing p.circle.nothing p.fast.any p.__version__.major q.any np.zeros
    """
)


@pytest.mark.parametrize("name", THERE)
def test_there(name):
    assert api().look_up(name).state is State.THERE


@pytest.mark.parametrize("name", GONE)
def test_gone(name):
    found = api().look_up(name)
    assert (found.state, found.reason) == (State.GONE, GONE[name])


@pytest.mark.parametrize("name", UNKNOWN)
def test_not_known(name):
    if name == "p.newer.any" and sys.version_info >= (3, 12):
        pytest.skip("this Python understands it")
    found = api().look_up(name)
    assert found.state is State.UNKNOWN
    assert found.reason


def test_the_packages_are_those_of_the_sources_in_scope():
    assert api().roots == {"p"}
    assert api(scope=()).roots == frozenset()
    assert api(scope=("setup.py", "tests/p_test.py")).roots == frozenset()
    moved = {f"src/{path}": text for path, text in FILES.items()}
    inside = api(moved, ("src/p/sub/deep.py",))
    assert inside.roots == {"p"}
    assert inside.look_up("p.sub.g").state is State.THERE
    assert inside.look_up("p.sub.nothing").state is State.GONE


def test_nothing_is_run():
    files = {"p/__init__.py": "raise SystemExit\n", "p/a.py": "import os; os._exit(3)\nx = 1\n"}
    assert api(files, ("p/a.py",)).look_up("p.a.x").state is State.THERE


def test_what_python_itself_finds_is_never_gone():
    """Every public name of a package of the standard library, and of its modules."""
    program = """
import importlib, json, pkgutil, sys
import asyncio, concurrent.futures, email.message, importlib.metadata, json.decoder, unittest.mock, xml.dom
import logging.handlers, http.client, collections.abc, ctypes.util, urllib.request, multiprocessing.pool, zoneinfo
names = []
roots = ("asyncio", "concurrent", "email", "importlib", "json", "unittest", "xml", "logging", "http", "collections",
         "ctypes", "urllib", "multiprocessing", "zoneinfo")
for name, module in list(sys.modules.items()):
    if name.partition(".")[0] in roots and hasattr(module, "__file__") and module.__file__:
        names += [f"{name}.{one}" for one in vars(module)]
print(json.dumps(names))
"""
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    names = json.loads(done.stdout)
    lib = Path(sysconfig.get_path("stdlib"))
    roots = {name.partition(".")[0] for name in names}
    files = [
        path.relative_to(lib).as_posix()
        for root in roots
        for pattern in ("*.py", "*.pyi")
        for path in (lib / root).rglob(pattern)
        if "test" not in path.parts
    ]
    found = Api(files, lambda path: (lib / path).read_bytes(), files)
    verdicts = {name: found.look_up(name).state for name in names}
    assert len(names) > 2000
    assert [name for name, state in verdicts.items() if state is State.GONE] == []
    there = sum(state is State.THERE for state in verdicts.values())
    assert there > 0.85 * len(names)
