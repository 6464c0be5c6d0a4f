// Package recollection has what banks of memory remember by themselves: what of a visit to a phase is remembered, the tool
// by which models search in all that a bank has, and the file of the project folder that stands in the system prompt.
package recollection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/engine/waiting"
)

// MinText is how long a text is at least that is remembered, in bytes without white space around it. What is shorter, as
// "Done." or "OK, thanks!", says nothing by itself.
const MinText = 20

// Visit is a visit to a phase that has ended well.
type Visit struct {
	*core.Place
	Cascade *cascade.Cascade
	Banks   memory.Banks
	Session string
	History []echo.Item    // what is in its views: without what a person has taken out
	Input   map[string]any // of the run, where the task tells it
	Passed  bool           // its answer has passed all checks
}

// Keep has the bank of the phase remember what was said in a visit, and records that. A bank that cannot remember is a
// warning: the visit has ended well all the same.
func Keep(ctx context.Context, v *Visit) error {
	m := cascade.MemoryOf(v.Cascade, v.Def)
	if !m.Remembers() || v.Def.Deterministic() {
		return nil
	}
	texts := v.texts(m)
	if len(texts) == 0 && !v.redacted() {
		return nil
	}
	key := v.Key.Step(echo.StepMemory)
	if len(texts) == 0 { // the record may have what it comes to
		_, _, err := effect.Reading[echo.MemoryCall](ctx, v.Rec, key, v.Site, func() echo.Payload { return nil })
		return err
	}
	done, err := effect.WholeReading[echo.MemoryCall](ctx, v.Rec, key, v.Site, func() echo.Payload {
		r := &memory.Remembering{Bank: m.Name, Session: v.Session, Key: v.Key, Texts: texts}
		done, err := remembered(ctx, v.Banks, r)
		if err != nil {
			done = r.Done(nil)
			done.Failed, done.Text = true, err.Error()
		}
		return *done
	})
	if err == nil && done.Failed {
		err = v.Rec.Warn(key, fmt.Sprintf("the bank %s has remembered nothing of the phase: %s", m.Name, done.Text))
	}
	return err
}

// redacted reports whether a message of the visit is: what the record has remembered of it may be all that it has.
func (v *Visit) redacted() bool {
	return slices.ContainsFunc(v.History, func(it echo.Item) bool { return it.Message.Redacted() != nil })
}

var errNoBanks = errors.New("this program keeps no memory")

func remembered(ctx context.Context, banks memory.Banks, r *memory.Remembering) (*echo.MemoryCall, error) {
	if banks == nil {
		return nil, errNoBanks
	}
	return banks.Remember(ctx, r)
}

// texts returns what is remembered of the visit, in the order in which it was said.
func (v *Visit) texts(m *continuity.Memory) (out []memory.Text) {
	history := v.History
	answer := -1 // the last one
	for i := range history {
		if isAnswer(history[i].Message) {
			answer = i
		}
	}
	for i := range history {
		worth := i == answer && v.Passed
		if m.Remember == continuity.RememberMessages {
			worth = v.isSaid(&history[i], answer >= 0 && history[i].Attempt < history[answer].Attempt)
		}
		if !worth {
			continue
		}
		if t, ok := v.text(&history[i]); ok {
			out = append(out, t)
		}
	}
	return out
}

// isSaid reports whether a message is one that people, models or tools have said in the visit, and that the model still had
// before it at the end. early says that it is of an attempt that did not pass, whose answers do not count.
func (v *Visit) isSaid(it *echo.Item, early bool) bool {
	m := it.Message
	if it.Order == 0 || it.Reduced { // brought in from elsewhere, or masked, cut or left out
		return false
	}
	switch {
	case isAnswer(m):
		return !early
	case m.Role() == echo.RoleTool:
		return !m.Failed() && !v.looksUp(m.Tool())
	case m.Kind() == echo.KindTask:
		return len(v.Input) > 0
	}
	return m.Kind() == echo.KindAudible // the others are words of the engine or of the cascade
}

// isAnswer reports whether a model has said a message. Not each model of a program says the kind of its answers.
func isAnswer(m *echo.Message) bool {
	return m.Role() == echo.RoleAssistant && (m.Kind() == echo.KindAnswer || m.Kind() == "")
}

// sqlTool is the tool by which a model reads the record of its own session.
const sqlTool = "sql_query"

// looksUp reports whether a tool returns what is known already, or what is no news: the engine's own tools do, but for those
// that people answer.
func (v *Visit) looksUp(tool string) bool {
	return tool == sqlTool || tool == cascade.RecallToolOf(v.Cascade, v.Def) || cascade.IsEngineTool(tool) && !waiting.Asks(tool)
}

// text returns what is remembered of a message, if that is enough to be worth it: of a task the input, which is what people
// have said of it. Secrets are masked as in the record.
func (v *Visit) text(it *echo.Item) (memory.Text, bool) {
	m := it.Message
	text := m.Text()
	switch {
	case m.Kind() == echo.KindTask:
		text = inputText(v.Input)
	case isAnswer(m):
		on := cascade.ContinuityOf(v.Cascade, v.Def)
		on.Lenient = !v.Rec.Rules.ChecksNotes()
		text = standing.Visible(text, on)
	}
	text = strings.TrimSpace(strings.ToValidUTF8(v.Rec.Mask.Text(text), "�"))
	if m.Redacted() != nil || len(text) < MinText {
		return memory.Text{}, false
	}
	text = head(text, memory.MaxText)
	kind := m.Kind()
	if isAnswer(m) {
		kind = echo.KindAnswer
	}
	return memory.Text{
		Hash: echo.TextHash([]byte(text)), Role: m.Role(), Kind: kind, Tool: m.Tool(), Session: v.Session,
		Phase: v.Record.Name, Visit: v.Record.Visit, Item: v.Item, Attempt: it.Attempt, Turn: it.Turn, Message: m.Hash(), Text: text,
	}, true
}

// inputText returns an input as a text: a line for each value, with its name where there are several.
func inputText(input map[string]any) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(input)) {
		line := echo.AsText(input[name])
		if len(input) > 1 {
			line = name + ": " + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// head returns the beginning of a text, at most so many bytes.
func head(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
