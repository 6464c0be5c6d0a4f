package views

import (
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// cacheMarks says which messages of a phase's requests ask the provider to keep what is before them,
// for providers that want to be asked.
type cacheMarks struct {
	on     bool
	before []*echo.Message // of the request before
}

// of returns the messages to mark in the next request: the end of its opening, the end of what it
// shares with the request before, and its own end when another request may follow. To write to a
// cache costs more than to send, so nothing is marked that nobody would read.
func (c *cacheMarks) of(msgs []*echo.Message, more bool) []int {
	if !c.on {
		return nil
	}
	shared := SharedPrefix(c.before, msgs)
	if len(c.before) == 0 && !more {
		return nil
	}
	c.before = msgs
	var marks []int
	add := func(end int) {
		for i := end - 1; i >= 0; i-- {
			if strings.TrimSpace(msgs[i].Open().Text()) != "" {
				marks = append(marks, i)
				return
			}
		}
	}
	add(openingOf(msgs))
	add(shared)
	if more {
		add(len(msgs) - standingAt(msgs))
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

// openingOf returns how many messages begin a request whatever follows: those of the system, or the
// first.
func openingOf(msgs []*echo.Message) int {
	n := 0
	for n < len(msgs) && msgs[n].Role() == echo.RoleSystem {
		n++
	}
	return max(n, 1)
}

// standingAt returns how many messages stand at the end of a request: the next one does not begin with them.
func standingAt(msgs []*echo.Message) (n int) {
	for n < len(msgs) && msgs[len(msgs)-1-n].Kind().Stands() {
		n++
	}
	return n
}

// SharedPrefix returns how many messages two requests begin with that are the same.
func SharedPrefix(a, b []*echo.Message) int {
	n := 0
	for n < len(a) && n < len(b) && a[n].Digest() == b[n].Digest() {
		n++
	}
	return n
}
