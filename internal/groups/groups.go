// Package groups has what people do with the groups of messages of a session: they look which there are, take some out of the
// context of the session, and back into it. Each change leaves a line of the audit.
package groups

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/waits"
)

// Status says whether a message, or a group, is in the context of its session.
type Status string

// The statuses; the others are those of [echo.Withdrawn].
const (
	Active    Status = "active"
	Partly    Status = "partly"    // some messages of a group are in the context, others are not
	Retracted Status = "retracted" // a person has taken the answer back with an audible
)

// Group is a user message with all that answers it.
type Group struct {
	Number   int       `json:"group"`
	Phase    string    `json:"phase"`
	Visit    int       `json:"visit"`
	Item     int       `json:"item,omitempty"` // of a list: the number of its element, from 1
	Words    string    `json:"words"`          // the first ones of its first message
	Tokens   int64     `json:"tokens"`         // of its messages, estimated
	Status   Status    `json:"status"`
	Pending  bool      `json:"pending,omitempty"` // the run has not taken that yet
	Messages []Message `json:"messages"`
}

// Message is one of a group.
type Message struct {
	Hash   echo.Hash `json:"content_hash"`
	Role   echo.Role `json:"role"`
	Kind   echo.Kind `json:"kind"`
	Tool   string    `json:"tool,omitempty"`
	Tokens int64     `json:"tokens"`
	Status Status    `json:"status"`

	at    echo.Spot
	entry *echo.Entry
}

// session is what is recorded of a session, with what persons have taken out of its context.
type session struct {
	id      string
	header  journal.Header
	end     record.End
	start   *echo.Entry // nil: it has none yet
	entries []*echo.Entry
	visits  []*echo.PhaseRecord
	told    [][]*echo.Entry // the entries of the messages of each visit
	taken   *echo.Withdrawals
	now     *echo.Withdrawals // with what no run has taken yet
	changes []*echo.ViewChange
}

// Withdrawals returns what persons have taken out of the context of a session, also what no run has taken yet, and all changes.
func Withdrawals(home, id string, entries []*echo.Entry) (*echo.Withdrawals, []*echo.ViewChange, error) {
	now := record.Withdrawals(record.Of(entries))
	all, err := mailbox.Changes{Box: waits.Box(home, id)}.All()
	if err != nil {
		return nil, nil, failure.New(failure.Damaged, err, "move the file away: what it says is lost")
	}
	for _, c := range all {
		now = now.With(c)
	}
	return now, all, nil
}

func read(home, id string) (*session, error) {
	if !journal.IsSessionID(id) {
		return nil, failure.New(failure.UnknownSession, fmt.Errorf("%q is no id of a session", id), "")
	}
	rec, err := journal.Read(filepath.Join(config.SessionDir(home, id), journal.File))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.New(failure.UnknownSession, fmt.Errorf("there is no session %s on this machine", id), "")
	case errors.As(err, new(*journal.VersionError)):
		return nil, failure.New(failure.OtherVersion, err, "")
	case err != nil:
		return nil, failure.New(failure.Damaged, fmt.Errorf("session %s: %w", id, err), "")
	}
	fold := record.Of(rec.Entries)
	s := &session{id: id, header: rec.Header, end: fold.End(), start: fold.Start(), entries: fold.Counted(), visits: record.Records(fold), taken: record.Withdrawals(fold)}
	for _, v := range fold.Visits() {
		s.told = append(s.told, record.Told(fold, v.Key))
	}
	s.now, s.changes, err = Withdrawals(home, id, rec.Entries)
	return s, err
}

// List returns the groups of a session in their order; those that were removed where all are asked for.
func List(home, id string, all bool) ([]Group, error) {
	s, err := read(home, id)
	if err != nil {
		return nil, err
	}
	out := []Group{}
	for _, g := range s.groups() {
		if all || g.Status != Status(echo.Removed) {
			out = append(out, g)
		}
	}
	return out, nil
}

// groups returns all groups of the session. Messages before the first group of a visit are in none.
func (s *session) groups() []Group {
	var out []Group
	numbers := echo.SessionGroups(s.visits)
	for i, v := range s.visits {
		now, was, gone := s.marked(s.now, v), s.marked(s.taken, v), echo.Retracted(v.History)
		spots := echo.Spots(v.Name, v.Visit, v.History)
		for n := range now {
			number := numbers[i][n]
			if number == 0 || now[n].Message.Kind().Stands() {
				continue
			}
			if len(out) < number {
				out = append(out, Group{Number: number, Phase: v.Name, Visit: v.Visit, Item: now[n].Element, Words: excerpt.Line(now[n].Message.Text(), mostWords)})
			}
			g := &out[number-1]
			m := messageOf(&now[n], spots[n], s.told[i][n])
			if gone != nil && gone[n] {
				m.Status = Retracted
			}
			g.Pending = g.Pending || now[n].Withdrawn != was[n].Withdrawn
			g.Tokens += m.Tokens
			g.Messages = append(g.Messages, m)
		}
	}
	for i := range out {
		out[i].Status = statusOf(out[i].Messages)
	}
	return out
}

// marked returns the history of a visit with what of it is withdrawn, by the rules that the session follows.
func (s *session) marked(by *echo.Withdrawals, v *echo.PhaseRecord) []echo.Item {
	of := echo.Session{Withdrawals: by, KeepsValues: s.header.Rules < echo.RulesKeepLookups}
	return of.Marked(v)
}

// mostWords is how much of a message a list shows, in characters.
const mostWords = 60

func messageOf(it *echo.Item, at echo.Spot, e *echo.Entry) Message {
	m := Message{
		Hash: it.Message.Hash(), Role: it.Message.Role(), Kind: it.Message.Kind(), Tool: it.Message.Tool(), Tokens: autocontext.Tokens(it.Message),
		Status: Active, at: at, entry: e,
	}
	if it.Withdrawn != echo.InView {
		m.Status = Status(it.Withdrawn)
	}
	return m
}

// statusOf returns the status of a group with these messages. What was taken back by itself says nothing of the group.
func statusOf(messages []Message) (is Status) {
	for _, m := range messages {
		switch {
		case m.Status == Retracted:
		case is == "":
			is = m.Status
		case is != m.Status:
			return Partly
		}
	}
	if is == "" {
		return Retracted
	}
	return is
}

// Taken says how many messages of a session are out of its context, also what no run has taken yet; "": none.
func Taken(home, id string, entries []*echo.Entry) string {
	now, _, err := Withdrawals(home, id, entries)
	if err != nil || now.Whole() {
		return ""
	}
	count := map[echo.Withdrawn]int{}
	for _, v := range record.Records(record.Of(entries)) {
		for _, it := range now.Mark(v.Name, v.Visit, v.History) {
			if it.Order > 0 {
				count[it.Withdrawn]++
			}
		}
	}
	var parts []string
	for _, w := range []echo.Withdrawn{echo.Undone, echo.Dropped, echo.Removed} {
		if n := count[w]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", quantity.Of(n, "message"), w))
		}
	}
	return strings.Join(parts, ", ")
}
