package inspect

import (
	"bytes"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
)

// Change says how a message of one request stands in another.
type Change string

// The changes.
const (
	Same    Change = "same"
	Changed Change = "changed" // the same message of the history, sent in another form
	Added   Change = "added"
	Gone    Change = "gone"
)

// Side is how a message stands in one of two requests.
type Side struct {
	Position int                `json:"position"` // in the request, from 1; 0: nothing was sent for it
	Messages int                `json:"messages"` // how many were sent for it
	Form     autocontext.Form   `json:"form"`
	Reason   autocontext.Reason `json:"reason"`
	Tokens   int64              `json:"tokens"`
}

// MessageChange is a message with its place in two requests.
type MessageChange struct {
	Change Change    `json:"change"`
	Hash   echo.Hash `json:"content_hash"` // of the original
	Role   echo.Role `json:"role"`
	Tool   string    `json:"tool,omitempty"`
	From   *Side     `json:"from"` // null: not in that history
	To     *Side     `json:"to"`
}

// Prefix says where the common beginning of two requests ends.
type Prefix struct {
	Messages int     `json:"messages"` // that are equal, byte by byte
	Tokens   int64   `json:"tokens"`   // in them
	Share    float64 `json:"share"`    // of the tokens of the second request, from 0 to 1
	Why      string  `json:"why"`
}

// Diff is what changed between the requests of two calls.
type Diff struct {
	SessionID string          `json:"session_id"`
	From      *Call           `json:"from"`
	To        *Call           `json:"to"`
	Prefix    Prefix          `json:"common_prefix"`
	Messages  []MessageChange `json:"messages"`

	Was []SentForm `json:"-"` // what became of each message of the history of From
	Is  []SentForm `json:"-"` // of To
}

// Diff compares the requests of two calls.
func (r *Record) Diff(from, to *Call) (*Diff, error) {
	forms, err := r.forms(from, to)
	if err != nil {
		return nil, err
	}
	was, is := forms[0], forms[1]
	return &Diff{
		SessionID: r.ID, From: from, To: to, Prefix: commonPrefix(was, is), Messages: changes(was, is, from.conversation() == to.conversation()),
		Was: was, Is: is,
	}, nil
}

// changes lists messages in the order of the second history, those only in the first in place.
func changes(was, is []SentForm, same bool) []MessageChange {
	before := make(map[pairKey]int, len(was))
	for i, key := range pairKeys(was, same) {
		before[key] = i
	}
	keys := pairKeys(is, same)
	paired := make([]bool, len(was))
	for _, key := range keys {
		if i, ok := before[key]; ok {
			paired[i] = true
		}
	}
	var out []MessageChange
	listed := 0 // of was
	list := func(until int) {
		for ; listed < until; listed++ {
			if !paired[listed] && len(was[listed].Sent) > 0 {
				out = append(out, newChange(&was[listed], nil))
			}
		}
	}
	for i, key := range keys {
		j, ok := before[key]
		switch {
		case ok:
			list(j)
			out = append(out, newChange(&was[j], &is[i]))
		case len(is[i].Sent) > 0:
			out = append(out, newChange(nil, &is[i]))
		}
	}
	list(len(was))
	return out
}

// pairKey names a message in two histories alike: by its entry, or across conversations by its hash, and how often that was there.
type pairKey struct {
	hash echo.Hash
	n    uint64
}

func pairKeys(forms []SentForm, same bool) []pairKey {
	keys := make([]pairKey, len(forms))
	seen := map[echo.Hash]uint64{}
	for i := range forms {
		if same {
			keys[i].n = forms[i].MessageSeq
			continue
		}
		h := forms[i].Hash
		seen[h]++
		keys[i] = pairKey{h, seen[h]}
	}
	return keys
}

// newChange compares a message in two requests; nil: it is not in that history.
func newChange(was, is *SentForm) MessageChange {
	m := is
	if m == nil {
		m = was
	}
	c := MessageChange{Hash: m.Hash, Role: m.Role, Tool: m.Tool, From: newSide(was), To: newSide(is)}
	from, to := sentOf(was), sentOf(is)
	switch {
	case slices.EqualFunc(from, to, alike):
		c.Change = Same
	case len(from) == 0:
		c.Change = Added
	case len(to) == 0:
		c.Change = Gone
	default:
		c.Change = Changed
	}
	return c
}

func newSide(f *SentForm) *Side {
	if f == nil {
		return nil
	}
	return &Side{Position: f.Position, Messages: f.Messages, Form: f.Form, Reason: f.Reason, Tokens: f.Tokens}
}

func sentOf(f *SentForm) []*echo.Message {
	if f == nil {
		return nil
	}
	return f.Sent
}

// alike reports whether a model is sent the same for two messages.
func alike(a, b *echo.Message) bool { return a == b || bytes.Equal(a.JSON(), b.JSON()) }
