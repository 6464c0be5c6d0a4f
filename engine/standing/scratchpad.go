package standing

import (
	"encoding/json"
	"fmt"

	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// Scratchpad is the name of the tool, and of the value of the session's state that it keeps.
const Scratchpad = "scratchpad"

// MostBytes bounds a scratchpad, and a state block.
const MostBytes = 16 << 10

// Spec describes the tool.
func Spec() effect.ToolSpec {
	return effect.ToolSpec{
		Name: Scratchpad, Idempotent: true,
		Description: fmt.Sprintf("Your scratchpad for this session: it stands at the end of every request, also when older messages have left it. Read it, append to it, or replace it (at most %d bytes).", MostBytes),
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["action"],"properties":{` +
			`"action":{"type":"string","enum":["read","append","replace"]},` +
			`"text":{"type":"string","description":"what is appended, below what is there, or comes in its place; not with read"}}}`),
	}
}

// Unfit says why a text cannot stand as a scratchpad or a state block; "" when it can.
func Unfit(text string, on continuity.InForce) string {
	if len(text) > MostBytes {
		return fmt.Sprintf("has %d bytes and can have %d", len(text), MostBytes)
	}
	if r, is := excerpt.FirstHidden(text); is && !on.Lenient {
		return fmt.Sprintf("has the character %U, which nobody sees", r)
	}
	return ""
}

// Refused returns what the model is told of a call of the tool whose text has a character that nobody sees; "" where it has
// none.
func Refused(args json.RawMessage) string {
	var in struct{ Text string }
	if json.Unmarshal(args, &in) != nil { // [Do] says what is wrong
		return ""
	}
	r, is := excerpt.FirstHidden(in.Text)
	if !is {
		return ""
	}
	return fmt.Sprintf("The text has the character %U, which nobody sees: nothing was changed. Write the text without it.", r)
}

// Do carries out a call of the tool on the scratchpad old. It returns the scratchpad after it and what the model is told.
func Do(args json.RawMessage, old string) (now, told string, failed bool, err error) {
	var in struct {
		Action string
		Text   *string
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return old, "", false, fmt.Errorf("read arguments of %s: %w", Scratchpad, err)
	}
	switch {
	case in.Action == "append" && (in.Text == nil || *in.Text == ""):
		return old, "Nothing was appended: text is empty.", true, nil
	case in.Action == "append" && old != "":
		now = old + "\n" + *in.Text
	case in.Action == "append":
		now = *in.Text
	case in.Action == "replace" && in.Text == nil:
		return old, `Nothing was replaced: text is missing. An empty text, "", clears the scratchpad.`, true, nil
	case in.Action == "replace":
		now = *in.Text
	default:
		if old == "" {
			return old, "The scratchpad is empty.", false, nil
		}
		return old, old, false, nil
	}
	if len(now) > MostBytes {
		return old, fmt.Sprintf("The scratchpad would have %d bytes and can have %d: nothing was changed. Replace it with a shorter one.", len(now), MostBytes), true, nil
	}
	return now, fmt.Sprintf("The scratchpad has %d of %d bytes.", len(now), MostBytes), false, nil
}
