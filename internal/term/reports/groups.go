package reports

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/groups"
	"github.com/windlass-run/windlass/internal/term"
)

// Groups has a row for each group of messages of a session.
func Groups(list []groups.Group) *term.Table {
	t := term.NewTable(">group", "phase", ">messages", ">tokens", "status", "words")
	for i := range list {
		g := &list[i]
		phase, status := g.Phase, string(g.Status)
		if g.Visit > 1 {
			phase += fmt.Sprintf("~%d", g.Visit)
		}
		if g.Pending {
			status += " (not taken yet)"
		}
		t.Add(strconv.Itoa(g.Number), phase, strconv.Itoa(len(g.Messages)), strconv.FormatInt(g.Tokens, 10), status, waiting.VisibleText(g.Words))
	}
	return t.Key("group").Drop("tokens", "messages")
}

// pastOf are the actions as they are told when they are done.
var pastOf = map[echo.ViewAction]string{
	echo.ViewUndo: "Undone", echo.ViewDrop: "Dropped", echo.ViewRemove: "Removed", echo.ViewRestore: "Restored",
}

// ContextChanged says what a change of the context of a session comes to. self is how windlass is called.
func ContextChanged(c *groups.Changed, self string) string {
	if c.Action == echo.ViewRebuild {
		return "Nothing is rebuilt yet. " + whenRebuilt(c, self)
	}
	lines := []string{pastOf[c.Action] + ": " + term.Plural(len(c.Messages), "message") + of(c.Groups) + ". " + whenTaken(c, self)}
	switch n := len(c.StayOut); n {
	case 0:
	case 1:
		lines = append(lines, "1 message stays out, as it shows or tells of messages that are out: restore those, too.")
	default:
		lines = append(lines, term.Plural(n, "message")+" stay out, as they show or tell of messages that are out: restore those, too.")
	}
	if len(c.Tasks) > 0 {
		lines = append(lines, fmt.Sprintf("Until it has ended, a phase is sent its task all the same: %s.", strings.Join(c.Tasks, ", ")))
	}
	if len(c.Kept) > 0 {
		lines = append(lines, "Kept: "+strings.Join(c.Kept, ", ")+".")
	}
	if len(c.Forget) > 0 {
		lines = append(lines, "To take that out as well:")
		for _, command := range c.Forget {
			lines = append(lines, "  "+strings.Replace(command, "windlass", self, 1))
		}
	}
	return strings.Join(lines, "\n")
}

func of(numbers []int) string {
	if len(numbers) == 0 {
		return ""
	}
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	word := "group "
	if len(numbers) > 1 {
		word = "groups "
	}
	return " of " + word + strings.Join(texts, ", ")
}

// whenRebuilt says when the state block is: a command only notes that somebody wants it.
func whenRebuilt(c *groups.Changed, self string) string {
	if c.Status == echo.StatusRunning {
		return "The run has a model write the state block anew before its next request."
	}
	return fmt.Sprintf("The run has a model write the state block anew when it is resumed: %s resume %s", self, c.Session)
}

func whenTaken(c *groups.Changed, self string) string {
	switch {
	case c.Status == echo.StatusRunning:
		return "The run takes that before its next request."
	case c.Resumable:
		return fmt.Sprintf("The run takes that when it is resumed: %s resume %s", self, c.Session)
	}
	return "The session has ended: its forks take that."
}
