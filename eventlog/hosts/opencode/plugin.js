// Written by `eventlog install AGENT`; `eventlog uninstall AGENT` removes it.
import { spawnSync } from "node:child_process"

const COMMANDS = {}

const AGENT = /--agent (\w+)/.exec(COMMANDS.SessionStart)?.[1] ?? "opencode"
const SESSION_ID = `${AGENT.toUpperCase()}_SESSION_ID` // of the agent's shell commands
const ASKS = { SessionStart: true, UserPromptSubmit: true, SubagentStart: true }
const MOST = 1500 // characters of what a command printed: its end
const STOPPED = 124 // the exit code of a command that was stopped, as timeout(1) has it

// What a command came to; `exit` is null where it was stopped, and no other tool has one.
const cameTo = ({ output = "", metadata: { exit } = {} } = {}) =>
  exit === undefined ? {} : { tool_response: (exit === 0 ? "" : `Exit code: ${exit ?? STOPPED}\n`) + output.slice(-MOST) }

export const EventLog = async ({ directory }) => {
  const parents = new Map() // of a helper's session
  const begun = new Set() // sessions this process has told of
  const contexts = new Map()
  const requests = new Map()
  const replies = new Map()
  const turns = new Map() // the message a session is answering

  const tell = (event, session, fields = {}) => {
    const parent = parents.get(session)
    const root = parent ?? session
    const about = { session_id: root, hook_event_name: event, cwd: directory, ...(parent ? { agent_id: session } : {}) }
    try {
      const ended = spawnSync("/bin/sh", ["-c", COMMANDS[event]], {
        input: JSON.stringify({ ...about, ...fields }),
        env: { ...process.env, [SESSION_ID]: root },
        timeout: 5000,
      })
      return ASKS[event] ? (JSON.parse(String(ended.stdout) || "{}").hookSpecificOutput?.additionalContext ?? "") : ""
    } catch {
      return ""
    }
  }

  const begin = (session, source) => {
    begun.add(session)
    contexts.set(session, tell("SessionStart", session, { source }))
  }

  const help = (session, parent) => {
    parents.set(session, parents.get(parent) ?? parent)
    contexts.set(session, tell("SubagentStart", session))
  }

  const onEvent = {
    "session.created": ({ info }) => (info.parentID ? help(info.id, info.parentID) : begin(info.id, "startup")),
    "session.compacted": ({ sessionID }) => parents.has(sessionID) || begin(sessionID, "compact"),
    "message.part.updated": ({ part }) => part.type === "text" && part.time?.end && replies.set(part.sessionID, part.text),
    "session.idle": ({ sessionID }) => {
      const [text, prompt_id] = [replies.get(sessionID), turns.get(sessionID) ?? ""]
      requests.delete(sessionID)
      replies.delete(sessionID)
      if (parents.has(sessionID)) return
      if (text) tell("AfterAgentResponse", sessionID, { text, prompt_id })
      tell("Stop", sessionID, { prompt_id })
    },
  }

  return {
    event: async ({ event }) => {
      onEvent[event.type]?.(event.properties)
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (parents.has(sessionID)) return
      if (!begun.has(sessionID)) begin(sessionID, "resume")
      turns.set(sessionID, message.id)
      const said = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      const asked = tell("UserPromptSubmit", sessionID, { prompt: said.join("\n"), prompt_id: message.id })
      if (asked) requests.set(sessionID, asked)
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      for (const told of [contexts.get(sessionID), requests.get(sessionID)]) if (told) system.push(told)
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, result) => {
      if (/^(bash|edit|write|patch|apply_patch|todowrite)$/.test(tool))
        tell("PostToolUse", sessionID, { tool_name: tool, tool_input: args, tool_use_id: callID, ...cameTo(result) })
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      tell("PreCompact", sessionID)
    },
    "shell.env": async ({ sessionID }, output) => {
      if (sessionID) output.env[SESSION_ID] = parents.get(sessionID) ?? sessionID
    },
    dispose: async () => {
      for (const session of begun) tell("SessionEnd", session, { reason: "exit" })
    },
  }
}
