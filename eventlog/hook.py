"""The fastest way to call `eventlog hook`: `python -I -S …/eventlog/hook.py --agent claude`.

Python compiles a script at every start: so this script is short, and `eventlog/hooks/hook_main.py` does the work.
Without site (`-S`) the path has the standard library only, so the directory of the package is added here.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # in so short a life, looking for garbage costs more than what it finds, from the first import on
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import spec_from_file_location

    root = __file__[: -len("/eventlog/hook.py")]
    sys.path.insert(0, root)
    # what finds our modules is not searched for: importlib would list three directories, and try each ending there
    spec = spec_from_file_location("eventlog.fast.modules", f"{root}/eventlog/fast/modules.py")
    assert spec
    assert spec.loader
    modules = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(modules)
    modules.install(root)
    if sys.argv[1:2] == ["--live"]:
        from eventlog.hooks.live import main
    else:
        from eventlog.hooks.hook_main import main
    main(sys.argv[1:])
