package simulate

import (
	"crypto/sha256"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
)

// maxFrontiers bounds the frontiers that a schedule in hindsight chooses from: the search takes
// time in proportion to their square. In a longer conversation only every n-th turn is one.
const maxFrontiers = 600

// course is a conversation laid out for the search of schedules.
type course struct {
	stages []stage
	turns  []int // frontier f is as of turn turns[f]; turns[0] is 0: nothing is old
}

// lay asks the builder what becomes of every message with every frontier.
func lay(c *Conversation, settings autocontext.Settings) *course {
	points := c.points()
	if len(points) == 0 {
		return &course{}
	}
	co := &course{turns: frontierTurns(points[len(points)-1].turn)}
	m := &marker{ids: map[[sha256.Size]byte]uint32{}}
	for first := 0; first < len(points); {
		end := first
		for end < len(points) && points[end].attempt == points[first].attempt && (end == first || !c.changes(end, points)) {
			end++
		}
		s := m.sheet(autocontext.NewAges(settings, c.history(end-1, points[end-1])), co.turns)
		for _, p := range points[first:end] {
			co.stages = append(co.stages, stage{at: p.at, last: co.lastAt(p.turn), sheet: s})
		}
		first = end
	}
	return co
}

// frontierTurns returns the turns from 0 to last, or as many of them as there may be.
func frontierTurns(last int) []int {
	pace := (last + maxFrontiers) / maxFrontiers
	var turns []int
	for t := 0; t <= last; t += pace {
		turns = append(turns, t)
	}
	return turns
}

func (co *course) lastAt(turn int) int {
	after, _ := slices.BinarySearch(co.turns, turn+1)
	return after - 1
}

func (co *course) asOf(schedule []int) []int {
	out := make([]int, len(schedule))
	for k, f := range schedule {
		out[k] = co.turns[f]
	}
	return out
}

// marker gives what is sent for messages short names. Equal bytes have equal names.
type marker struct{ ids map[[sha256.Size]byte]uint32 }

// sheet makes the views of a history with one frontier after the other.
func (m *marker) sheet(ages *autocontext.Ages, turns []int) *sheet {
	s := &sheet{diffs: make([][]int, len(turns))}
	for _, t := range turns {
		view := ages.At(t)
		ids, sums := make([]uint32, len(view.Items)), make([]int64, len(view.Items)+1)
		for i := range view.Items {
			ids[i] = m.mark(&view.Items[i])
			sums[i+1] = sums[i] + view.Items[i].Tokens
		}
		s.ids, s.sums = append(s.ids, ids), append(s.sums, sums)
	}
	return s
}

func (m *marker) mark(it *autocontext.Item) uint32 {
	var key [sha256.Size]byte
	if it.Sent != nil {
		key = it.Sent.Digest()
	}
	if len(it.After) > 0 {
		h := sha256.New()
		h.Write(key[:])
		for _, a := range it.After {
			d := a.Digest()
			h.Write(d[:])
		}
		h.Sum(key[:0])
	}
	id, ok := m.ids[key]
	if !ok {
		id = uint32(len(m.ids))
		m.ids[key] = id
	}
	return id
}
