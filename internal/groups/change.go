package groups

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/suggestion"
	"github.com/windlass-run/windlass/internal/waits"
)

// Wish is what a person wants of a session.
type Wish struct {
	Session  string // its whole id
	Action   echo.ViewAction
	Groups   []int
	Messages []string // beginnings of content hashes
	By       string
	Via      echo.Via
}

// Changed says what became of a wish.
type Changed struct {
	Session   string          `json:"session"`
	Number    int             `json:"number"` // of the change, from 1
	Action    echo.ViewAction `json:"action"`
	Groups    []int           `json:"groups,omitempty"`
	Messages  []echo.Spot     `json:"messages"`
	StayOut   []echo.Spot     `json:"stay_out,omitempty"` // of those that were to be put back: they show, or tell of, messages that are out
	Status    echo.Status     `json:"status"`             // of the session
	Resumable bool            `json:"resumable"`          // the session runs, or can be resumed
	Kept      []string        `json:"kept,omitempty"`     // what the messages have left elsewhere, which stays
	Forget    []string        `json:"forget,omitempty"`   // the commands that take texts of it out of banks and memos
	Tasks     []string        `json:"tasks,omitempty"`
}

// Change leaves what a person wants for the run of the session, and a line of the audit. The error has the kind InvalidRequest when
// there is nothing to change, UnknownMessage when a hash names none, or several. With a [*UntoldError] the change was left, and the same
// one tells the banks again.
func Change(ctx context.Context, home string, now time.Time, w *Wish) (c *Changed, err error) {
	l := audit.Line{At: now.UTC(), By: w.By, Via: string(w.Via), What: audit.Context, Target: string(w.Action), Session: w.Session}
	err = audit.Do(ctx, home, l, func() error {
		for {
			c, err = change(ctx, home, now, w)
			if !errors.Is(err, fs.ErrExist) { // else somebody else was faster: what there is now is looked at again
				return err
			}
		}
	})
	return c, err
}

func change(ctx context.Context, home string, now time.Time, w *Wish) (*Changed, error) {
	s, err := read(home, w.Session)
	if err != nil {
		return nil, err
	}
	list, groups, err := s.wanted(w)
	if err != nil {
		// Whoever asks again may have been killed before the banks were told.
		if problems := s.tellBanks(ctx, home, w.By, s.now); len(problems) > 0 {
			err = errors.Join(err, untold(w.Session, problems))
		}
		return nil, err
	}
	steps := []echo.ViewChange{{Action: w.Action}}
	if w.takesBack() {
		steps, list = s.stepsBack(list)
	} else {
		list = s.withCalls(list, w.Action)
		steps[0].Messages = spotsOf(list)
	}
	var next *echo.ViewChange
	after := s.now
	for i := range steps {
		next = &steps[i]
		next.Number, next.Groups, next.By, next.Via, next.At = s.now.Last()+1+i, groups, w.By, w.Via, now.UTC()
		err = mailbox.Changes{Box: waits.Box(home, w.Session)}.Change(next)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, failure.New(failure.StorageFailed, err, "")
		}
		after = after.With(next)
	}
	list, stay := s.staysOut(list, after)
	c := &Changed{
		Session: w.Session, Number: next.Number, Action: w.Action, Groups: groups, Messages: spotsOf(list), StayOut: spotsOf(stay), Status: s.end.Status, Resumable: s.end.MayResume(),
	}
	if w.Action != echo.ViewRestore && w.Action != echo.ViewRebuild {
		c.Tasks = s.tasks(list)
		c.Kept, c.Forget = s.kept(list)
	}
	if err == nil {
		if problems := s.tellBanks(ctx, home, w.By, after); len(problems) > 0 {
			return c, untold(w.Session, problems)
		}
	}
	return c, err
}

// wanted returns the messages that a wish is about, and the numbers of the groups that it means.
func (s *session) wanted(w *Wish) (list []Message, numbers []int, err error) {
	all := s.groups()
	switch {
	case !w.known():
		return nil, nil, invalid("", "%q is nothing that can be done to messages: it is undo, drop, remove, restore or rebuild", w.Action)
	case (w.Action == echo.ViewDrop || w.Action == echo.ViewRemove) && len(w.Groups)+len(w.Messages) == 0:
		return nil, nil, invalid("windlass context groups "+s.id, "nothing to %s: name a group or a message", w.Action)
	case w.Action == echo.ViewRebuild:
		return nil, nil, s.checkState()
	case len(all) == 0:
		return nil, nil, invalid("windlass show "+s.id, "session %s has no group of messages yet", s.id)
	case w.Action == echo.ViewUndo:
		return s.newest(all)
	case w.takesBack():
		list, err = s.lastTaken(all)
		return list, nil, err
	}
	for _, n := range once(w.Groups) {
		if n < 1 || n > len(all) {
			return nil, nil, invalid("windlass context groups "+s.id, "session %s has no group %d: its groups are 1 to %d", s.id, n, len(all))
		}
		found := changes(all[n-1].Messages, w.Action)
		if len(found) == 0 {
			return nil, nil, s.nothing(already(w.Action, all[n-1].Status), fmt.Sprintf("group %d", n))
		}
		list, numbers = append(list, found...), append(numbers, n)
	}
	for _, prefix := range w.Messages {
		found, err := s.byHash(all, prefix)
		if err != nil {
			return nil, nil, err
		}
		found = changes(found, w.Action)
		if len(found) == 0 {
			return nil, nil, s.nothing(w.Action, "message "+prefix)
		}
		list = append(list, found...)
	}
	return unique(list), numbers, nil
}

func (w *Wish) known() bool {
	return slices.Contains([]echo.ViewAction{echo.ViewUndo, echo.ViewDrop, echo.ViewRemove, echo.ViewRestore, echo.ViewRebuild}, w.Action)
}

// withCalls adds the calls and results that go with messages, of which the action makes something else.
func (s *session) withCalls(list []Message, a echo.ViewAction) []Message {
	var spots []echo.Spot
	for _, m := range list {
		spots = append(spots, m.at)
	}
	var none *echo.Withdrawals
	with := none.With(&echo.ViewChange{Number: 1, Action: echo.ViewDrop, Messages: spots})
	for i, v := range s.visits {
		places, now := echo.Spots(v.Name, v.Visit, v.History), s.marked(s.now, v)
		for n, it := range s.marked(with, v) {
			// The list of the answers of elements goes, and comes back, by itself.
			collected := it.Element == 0 && echo.HasElements(v.History)
			if it.Withdrawn != echo.InView && it.Order > 0 && (!collected || a == echo.ViewRestore) {
				list = append(list, changes([]Message{messageOf(&now[n], places[n], s.told[i][n])}, a)...)
			}
		}
	}
	return unique(list)
}

// staysOut returns the messages of a change, and without them those that it would put back and that are out all the same, with others.
func (s *session) staysOut(list []Message, after *echo.Withdrawals) (changed, stay []Message) {
	out := map[echo.Spot]bool{}
	for _, v := range s.visits {
		spots := echo.Spots(v.Name, v.Visit, v.History)
		for n, it := range s.marked(after, v) {
			out[spots[n]] = it.Withdrawn != echo.InView
		}
	}
	for _, m := range list {
		if after.Of(m.at) == echo.InView && out[m.at] {
			stay = append(stay, m)
		} else {
			changed = append(changed, m)
		}
	}
	return changed, stay
}

// once returns numbers without those that are there before.
func once(numbers []int) (out []int) {
	for _, n := range numbers {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func unique(list []Message) (out []Message) {
	seen := map[echo.Spot]bool{}
	for _, m := range list {
		if !seen[m.at] {
			seen[m.at] = true
			out = append(out, m)
		}
	}
	return out
}

// changes returns the messages of which an action makes something else. What was taken back with an audible stays so.
func changes(list []Message, a echo.ViewAction) (out []Message) {
	to := Active
	if a != echo.ViewRestore {
		to = Status(a.Makes())
	}
	for _, m := range list {
		removed := m.Status == Status(echo.Removed) && a == echo.ViewDrop // it is gone from more than that
		if m.Status != to && m.Status != Retracted && !removed {
			out = append(out, m)
		}
	}
	return out
}

// already returns the action of which there is nothing left to do: what was removed is dropped, too.
func already(a echo.ViewAction, is Status) echo.ViewAction {
	if a == echo.ViewDrop && is == Status(echo.Removed) {
		return echo.ViewRemove
	}
	return a
}

func (s *session) nothing(a echo.ViewAction, what string) error {
	if a == echo.ViewRestore {
		return invalid("windlass context groups "+s.id, "nothing of %s of session %s was taken out of its context", what, s.id)
	}
	return invalid("windlass context restore "+s.id, "%s of session %s is %s already", what, s.id, a.Makes())
}

func invalid(try, format string, args ...any) error {
	return failure.New(failure.InvalidRequest, fmt.Errorf(format, args...), try)
}

// newest returns the newest group that is in the context, at least in part.
func (s *session) newest(all []Group) ([]Message, []int, error) {
	for _, g := range slices.Backward(all) {
		var list []Message
		for _, m := range g.Messages {
			if m.Status == Active {
				list = append(list, m)
			}
		}
		if len(list) > 0 {
			return list, []int{g.Number}, nil
		}
	}
	return nil, nil, invalid("windlass context restore "+s.id, "session %s has no group in its context", s.id)
}

// takesBack reports whether the wish is that the newest change is taken back.
func (w *Wish) takesBack() bool {
	return w.Action == echo.ViewRestore && len(w.Groups)+len(w.Messages) == 0
}

func spotsOf(list []Message) (spots []echo.Spot) {
	for _, m := range list {
		spots = append(spots, m.at)
	}
	return spots
}

// stepsBack returns the changes that give messages the status that they had before the newest change that took them out, and
// the messages of which that is another one.
func (s *session) stepsBack(list []Message) (steps []echo.ViewChange, back []Message) {
	taken := s.newestTaken(list)
	before := withdrawalsOf(s.changes[:taken-1])
	to := map[echo.ViewAction][]echo.Spot{}
	for _, m := range list {
		action := echo.ViewRestore
		for _, a := range []echo.ViewAction{echo.ViewUndo, echo.ViewDrop, echo.ViewRemove} {
			if before.Of(m.at) == a.Makes() {
				action = a
			}
		}
		to[action] = append(to[action], m.at)
	}
	for _, a := range []echo.ViewAction{echo.ViewUndo, echo.ViewDrop, echo.ViewRemove, echo.ViewRestore} {
		if len(to[a]) > 0 {
			steps = append(steps, echo.ViewChange{Action: a, Messages: to[a]})
		}
	}
	steps[len(steps)-1].Restores = taken
	return steps, list
}

// newestTaken returns the number of the newest change that has taken one of the messages out and was not taken back.
func (s *session) newestTaken(list []Message) int {
	spots, undone := spotsOf(list), s.takenBack()
	for _, c := range slices.Backward(s.changes) {
		if !undone[c.Number] && c.Action != echo.ViewRestore && slices.ContainsFunc(c.Messages, func(at echo.Spot) bool { return slices.Contains(spots, at) }) {
			return c.Number
		}
	}
	return 1
}

// takenBack returns the changes that others have taken back, and those that did so.
func (s *session) takenBack() map[int]bool {
	out := map[int]bool{}
	for _, c := range s.changes {
		if c.Restores > 0 {
			out[c.Restores], out[c.Number] = true, true
		}
	}
	return out
}

func withdrawalsOf(changes []*echo.ViewChange) (w *echo.Withdrawals) {
	for _, c := range changes {
		w = w.With(c)
	}
	return w
}

// lastTaken returns the messages of the newest change of which something is out of the context still.
func (s *session) lastTaken(all []Group) ([]Message, error) {
	undone := s.takenBack()
	for _, c := range slices.Backward(s.changes) {
		if c.Action == echo.ViewRestore || undone[c.Number] {
			continue
		}
		var list []Message
		for _, g := range all {
			for _, m := range g.Messages {
				if m.Status != Active && m.Status != Retracted && slices.Contains(c.Messages, m.at) {
					list = append(list, m)
				}
			}
		}
		if len(list) > 0 {
			return list, nil
		}
	}
	return nil, invalid("windlass context groups "+s.id, "nothing was taken out of the context of session %s", s.id)
}

// shortestHash is how much of a hash names a message, in digits.
const shortestHash = 4

// byHash returns the messages with the one hash that begins so.
func (s *session) byHash(all []Group, prefix string) (list []Message, err error) {
	prefix = strings.ToLower(prefix)
	var hashes []string
	for _, g := range all {
		for _, m := range g.Messages {
			if strings.HasPrefix(string(m.Hash), prefix) {
				list = append(list, m)
				hashes = append(hashes, string(m.Hash))
			}
		}
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	try := "windlass context groups " + s.id + " --json"
	switch {
	case len(prefix) < shortestHash:
		return nil, failure.New(failure.UnknownMessage, fmt.Errorf("%q is too short for a content hash: give %d digits or more", prefix, shortestHash), try)
	case len(hashes) == 0:
		return nil, failure.New(failure.UnknownMessage, s.unknownHash(all, prefix), try)
	case len(hashes) > 1:
		return nil, failure.New(failure.UnknownMessage, fmt.Errorf("%q is the beginning of %d hashes: %s", prefix, len(hashes), strings.Join(hashes[:min(len(hashes), 5)], ", ")), try)
	}
	return list, nil
}

// unknownHash says that no group has a message with a hash, or that the message is in none.
func (s *session) unknownHash(all []Group, prefix string) error {
	for _, v := range s.visits {
		for _, it := range v.History {
			switch {
			case !strings.HasPrefix(string(it.Message.Hash()), prefix):
			case it.Message.Role() == echo.RoleSystem:
				return fmt.Errorf("%s is the system message of phase %q, which stays: it is what the phase is", it.Message.Hash(), v.Name)
			case it.Element == 0 && echo.HasElements(v.History):
				return fmt.Errorf("%s is the list of the answers of the elements of phase %q, which goes with them: drop these", it.Message.Hash(), v.Name)
			case it.Order == 0:
				return fmt.Errorf("%s is what phase %q was brought of earlier ones: drop the message of the phase that it comes from", it.Message.Hash(), v.Name)
			}
		}
	}
	var known []string
	for _, g := range all {
		for _, m := range g.Messages {
			known = append(known, string(m.Hash))
		}
	}
	return fmt.Errorf("no group of session %s has a message with the hash %q; the nearest are %s", s.id, prefix, strings.Join(suggestion.Nearest(prefix, known, 3), ", "))
}

// tasks returns the phases whose tasks are sent all the same, as they have not ended.
func (s *session) tasks(list []Message) (phases []string) {
	if !s.end.MayResume() {
		return nil
	}
	for _, m := range list {
		open := func(v *echo.PhaseRecord) bool { return v.Name == m.at.Phase && v.Visit == m.at.Visit && !v.Done }
		if m.Kind == echo.KindTask && slices.ContainsFunc(s.visits, open) && !slices.Contains(phases, m.at.Phase) {
			phases = append(phases, m.at.Phase)
		}
	}
	return phases
}

// place is a turn of a visit, or of a branch of it.
type place struct {
	conversation  echo.Key
	attempt, turn int
}

func placeOf(e *echo.Entry) place { return place{record.Conversation(e.Key), e.Attempt, e.Turn} }
