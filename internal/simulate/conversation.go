package simulate

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// Conversation is a line of a file, or a visit to a phase of a session. It is read only.
type Conversation struct {
	File    string // as it was named
	Number  int    // the line of the file, or the ordinal of the visit, from 1
	Name    string // of a visit, such as "research~2"; "" for a line of a file
	Items   []echo.Item
	Dialect dialect.Dialect // how the model was told about tools
}

// String names a conversation for people.
func (c *Conversation) String() string {
	if c.Name != "" {
		return fmt.Sprintf("%s of %s", c.Name, c.File)
	}
	return fmt.Sprintf("%s:%d", c.File, c.Number)
}

// point is a place at which the model was asked: what it said next is the answer.
type point struct {
	at      int // messages before the answer
	turn    int // that the call began, from 1 over all attempts
	attempt int
	answer  *echo.Message
}

// points returns the calls of a conversation: every assistant message with something before it.
// Messages of other phases, whose attempt is 0, are no answers.
func (c *Conversation) points() []point {
	var out []point
	turn := 0
	for i, it := range c.Items {
		if it.Message.Role() != echo.RoleAssistant || it.Attempt == 0 {
			continue
		}
		turn++
		if i > 0 {
			out = append(out, point{at: i, turn: turn, attempt: it.Attempt, answer: it.Message})
		}
	}
	return out
}

// Calls returns the number of calls that the conversation has.
func (c *Conversation) Calls() int { return len(c.points()) }
