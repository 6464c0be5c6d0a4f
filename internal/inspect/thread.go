package inspect

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// thread is a conversation as it is walked: what its newest request adds up to, kept by what changed since the one before. So a
// walk of all requests takes time with what changed, not with calls times messages.
type thread struct {
	forms map[autocontext.Form]FormSum
	sizes sizes // what was sent for each message of the history
}

// follow is [Record.walk] with the thread of each request, which has taken it over.
func follow(r *Record, see func(n int, req *record.Request, t *thread) bool) error {
	threads := map[echo.Key]*thread{}
	return r.walk(func(n int, req *record.Request) bool {
		key := record.Conversation(req.Selection.Key)
		t := threads[key]
		if t == nil || req.Anew {
			t = &thread{forms: map[autocontext.Form]FormSum{}}
			threads[key] = t
		}
		t.take(req)
		return see(n, req, t)
	})
}

func (t *thread) take(req *record.Request) {
	seen := make(map[int]bool, len(req.Changes)) // a message that several spans name counts once
	for _, c := range req.Changes {
		if seen[c.At] {
			continue
		}
		seen[c.At] = true
		if c.Was.Hash != "" {
			t.count(&c.Was, -1)
		}
		t.count(&req.Sent[c.At], 1)
		t.sizes.set(c.At, req.Sent[c.At].Tokens)
	}
}

// trace is [follow] for one message: at has the places in the history of a request whose message it is, and those for which
// it was sent in the place of another, in order. Requests without any are left out.
func trace(r *Record, h echo.Hash, see func(n int, req *record.Request, t *thread, at []int)) error {
	places := map[echo.Key][]int{}
	return follow(r, func(n int, req *record.Request, t *thread) bool {
		key := record.Conversation(req.Selection.Key)
		at := places[key]
		if req.Anew {
			at = nil
		}
		for _, c := range req.Changes {
			i, was := slices.BinarySearch(at, c.At)
			switch is := has(req, c.At, h); {
			case is && !was:
				at = slices.Insert(at, i, c.At)
			case !is && was:
				at = slices.Delete(at, i, i+1)
			}
		}
		if places[key] = at; len(at) > 0 {
			see(n, req, t, at)
		}
		return true
	})
}

// has reports whether a message of a history is the one with a hash, or that one was sent for it.
func has(req *record.Request, at int, h echo.Hash) bool {
	s := &req.Sent[at]
	return s.Hash == h || !s.Full && slices.ContainsFunc(req.Rendered(at), func(m *echo.Message) bool { return m.Hash() == h })
}

// count adds a message to what was sent in its form, or takes it off.
func (t *thread) count(s *record.Sent, by int) {
	form := autocontext.Form(s.Form)
	sum := t.forms[form]
	sum.Messages += by
	sum.Tokens += int64(by) * s.Tokens
	if t.forms[form] = sum; sum.Messages == 0 {
		delete(t.forms, form)
	}
}

// sums returns what the newest request adds up to, by form.
func (t *thread) sums() map[autocontext.Form]FormSum { return maps.Clone(t.forms) }

// cached reports whether a message was sent, and lies in the beginning of so many tokens that a prefix cache can have.
func (t *thread) cached(req *record.Request, at int) bool {
	return req.Sent[at].Tokens > 0 && t.sizes.until(at+1) <= req.Selection.Selection.SharedSize
}

// sizes are numbers, none below zero, that are changed and added up from the first in logarithmic time. It is a tree of Fenwick.
type sizes struct {
	each []int64
	tree []int64 // tree[i-1] is the sum of the numbers i-lowbit(i) to i-1
}

// set gives a number that is there another value, or adds the one behind the last.
func (s *sizes) set(at int, to int64) {
	if at == len(s.each) {
		s.each = append(s.each, to)
		i := at + 1
		s.tree = append(s.tree, s.until(i-1)-s.until(i&(i-1))+to)
		return
	}
	by := to - s.each[at]
	s.each[at] = to
	for i := at + 1; i <= len(s.tree); i += i & -i {
		s.tree[i-1] += by
	}
}

// until returns the sum of the first n numbers.
func (s *sizes) until(n int) (sum int64) {
	for ; n > 0; n &= n - 1 {
		sum += s.tree[n-1]
	}
	return sum
}

// within returns how many numbers from the first add up to no more than most.
func (s *sizes) within(most int64) int {
	n := 0
	for step := 1 << bits.Len(uint(len(s.tree))); step > 0; step /= 2 {
		if next := n + step; next <= len(s.tree) && s.tree[next-1] <= most {
			n, most = next, most-s.tree[next-1]
		}
	}
	return n
}
