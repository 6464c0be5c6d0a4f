package standing

import (
	"strings"

	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/echo"
)

// howToKeep tells a model of its scratchpad.
const howToKeep = `You have a scratchpad for this session. It stands at the end of every request, also when older messages have left it, and in later phases. ` +
	`Keep it short, but such that the work could be taken up from it alone. Its sections are: Current understanding; Current plan (a checklist: - [x] done, - [ ] open); ` +
	`Key decisions; Blockers; Last action. Change it by the tool scratchpad, or write the whole of it in an answer after a line that begins with ` + scratchpadMark +
	` — what follows it replaces what was there.`

// howToState tells a model of the state block.
const howToState = `End each answer that you write with a section that begins with the line "### STATE" and has these lines: "Goal:", "Context:", "Resolved:", ` +
	`"Technical anchors:" (paths, names, ids, numbers) and "Next:". Nothing follows it; it is no part of your answer and is not shown. ` +
	`The newest one stands at the end of every request. Older messages may have left the conversation, or be cut: the state block stands for them, and ` +
	`recall returns what a placeholder names.`

// Instructions returns what the system prompt of a phase says of what stands at the end of its requests, "" where nothing does.
func Instructions(on continuity.InForce) string {
	var parts []string
	if on.Scratchpad {
		parts = append(parts, howToKeep)
	}
	if on.StateBlock {
		parts = append(parts, howToState)
	}
	return strings.Join(parts, "\n\n")
}

// Title returns what people call a value of the state that stands.
func Title(name string) string {
	if name == StateBlock {
		return "state block"
	}
	return name
}

// Message returns what stands at the end of a request for a value of the state, nil where there is nothing. Where something has
// stood before, an empty one says so: what stood does not any more.
func Message(name, value string, stood bool) *echo.Message {
	empty := strings.TrimSpace(value) == ""
	kind, text := echo.KindScratchpad, "[Your scratchpad, as it is now.]\n\n"+value
	switch {
	case empty && !stood:
		return nil
	case name == StateBlock && empty:
		kind, text = echo.KindStateBlock, "[There is no state of the work now.]"
	case name == StateBlock:
		kind, text = echo.KindStateBlock, "[The state of the work, as you wrote it last.]\n\n"+value
	case empty:
		text = "[Your scratchpad is empty.]"
	}
	return echo.NewText(echo.RoleUser, kind, text)
}
