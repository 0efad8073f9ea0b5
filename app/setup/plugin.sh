#!/bin/sh
# Runs eventlog for a plugin of it: `sh eventlog.sh hook --agent NAME --event EVENT`, or `mcp --agent NAME`.
# An installed eventlog comes first, then a Python that has it, then uv. Where there is none, the start of a session
# says so. A hook downloads nothing, prints nothing else and ends with 0: it never disturbs its host.

EVENTLOG_PLUGIN=1
export EVENTLOG_PLUGIN
package='agent-eventlog==@VERSION@'

for program in "$(command -v eventlog)" "$HOME/.local/bin/eventlog"; do
  if [ -x "$program" ]; then exec "$program" "$@"; fi
done
for python in python3 python; do
  if "$python" -I -c 'import eventlog.hook' 2>/dev/null; then exec "$python" -I -m eventlog "$@"; fi
done
for uv in "$(command -v uv)" "$HOME/.local/bin/uv" "$HOME/.cargo/bin/uv"; do
  [ -x "$uv" ] || continue
  if [ "$1" = mcp ]; then exec "$uv" tool run --quiet --from "$package" eventlog "$@"; fi
  if "$uv" tool run --quiet --offline --from "$package" eventlog "$@" 2>/dev/null; then exit 0; fi
done

missing='eventlog is not installed, so nothing is remembered: uv tool install agent-eventlog, or pipx install agent-eventlog'
if [ "$1" = mcp ]; then echo "$missing" >&2; exit 1; fi
cat >/dev/null
case "$*" in *[sS]essionStart*) printf '{"systemMessage": "%s"}\n' "$missing" ;; esac
exit 0
