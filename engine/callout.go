package engine

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// callouts marks the output, or messages, of a phase that has ended well as important.
func (v *visit) callouts() error {
	c := v.phase.Callouts
	if c == nil {
		return nil
	}
	if c.Output != "" {
		if last := lastAnswer(v.record.History); last != nil {
			if err := v.callout("output", c.Output, last.Message); err != nil {
				return err
			}
		}
	}
	if c.Messages == "" {
		return nil
	}
	for i, it := range pick(v.record.History, c.MessagesFilter) {
		if err := v.callout(fmt.Sprintf("message%d", i+1), c.Messages, it.Message); err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) callout(what, nameTemplate string, m *echo.Message) error {
	name, err := v.text("callouts", nameTemplate)
	if err != nil {
		return err
	}
	v.session.Callouts = append(v.session.Callouts, echo.Callout{Name: name, Phase: v.phase.Name, Hash: m.Hash()})
	v.markCallout(m.Hash(), name)
	e := payloadEntry(v.key.Named(echo.StepCallout, what), v.place(), echo.CalloutMark{Name: name})
	e.ContentHash = m.Hash()
	return v.append(e)
}

// lastAnswer returns the newest answer or tool result of a history, or nil.
func lastAnswer(history []echo.Item) *echo.Item {
	for i := len(history) - 1; i >= 0; i-- {
		if k := history[i].Message.Kind(); k == echo.KindAnswer || k == echo.KindToolResult {
			return &history[i]
		}
	}
	return nil
}
