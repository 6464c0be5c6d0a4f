package memo

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/words"
)

// idle are words by which no memo is ever brought, besides those that say nothing anyway.
var idle = strings.Fields("continue next ok yes no thanks again please try fix more done")

// goOn are two words that say nothing together.
var goOn = regexp.MustCompile(`(?i)\bgo\s+on\b`)

// MaxBrought is how many memos a message brings at most.
const MaxBrought = 5

// tagShare is on which share of all memos a tag may be for its words to bring a memo.
const tagShare = 1.0 / 3

// index has the words of the memos of a set.
type index struct {
	lexicon *words.Lexicon
	memos   []*Memo
	has     []map[int32]bool // of each memo, its terms
	having  map[int32]int    // how many memos have a term
}

// index reads the memos; without the words of tags that are on too many of them where those do not count.
func (s Set) index(commonTags bool) *index {
	x := &index{lexicon: words.New(), having: map[int32]int{}}
	on := map[string]int{}
	for i := range s {
		x.memos = append(x.memos, &s[i])
		for _, tag := range s[i].Tags {
			on[tag]++
		}
	}
	slices.SortFunc(x.memos, newer)
	for _, m := range x.memos {
		terms := x.lexicon.Read(nil, m.Text)
		for _, tag := range m.Tags {
			if commonTags || float64(on[tag]) <= tagShare*float64(len(s)) {
				terms = x.lexicon.Read(terms, tag)
			}
		}
		has := map[int32]bool{}
		for _, t := range terms {
			if !has[t] {
				has[t] = true
				x.having[t]++
			}
		}
		x.has = append(x.has, has)
	}
	return x
}

// newer orders memos, the newest first.
func newer(a, b *Memo) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) }

// rank returns the memos that have one of some terms: first those that have most of them, where a rare one counts more.
func (x *index) rank(terms []int32) []*Memo {
	terms = slices.Compact(slices.Sorted(slices.Values(terms)))
	type ranked struct {
		*Memo
		score float64
	}
	var found []ranked
	for i, m := range x.memos {
		score := 0.0
		for _, t := range terms {
			if x.has[i][t] {
				score += math.Log(1 + float64(len(x.memos))/float64(x.having[t]))
			}
		}
		if score > 0 {
			found = append(found, ranked{m, score})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	out := make([]*Memo, len(found))
	for i, f := range found {
		out[i] = f.Memo
	}
	return out
}

// search returns the memos that have one of the words of a query, and all of some tags, the best ones first; the newest
// ones first without a word that says something.
func (s Set) search(query string, tags []string) []*Memo {
	x := s.index(true)
	found := x.memos
	if terms := x.lexicon.Read(nil, query); len(terms) > 0 {
		found = x.rank(terms)
	}
	return slices.DeleteFunc(slices.Clone(found), func(m *Memo) bool {
		return slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(m.Tags, tag) })
	})
}

// Says reports whether a query has a word by which memos are found: "the", "with" and their like are none.
func Says(query string) bool { return len(words.New().Read(nil, query)) > 0 }

// Search is retrieve_memos for people.
func (s Set) Search(query string, tags []string) []*Memo { return s.search(query, tags) }

// Select returns which memos the words of a message bring, the best ones first, and whether they are those that the last
// message has brought. Words that say nothing bring none; a message that has no others leaves what the last one has brought,
// as far as it is there still. It is a pure function.
func (s Set) Select(message string, last []string) (found []*Memo, kept bool) {
	x := s.index(false)
	if terms := x.telling(message); len(terms) > 0 {
		found := x.rank(terms)
		return found[:min(len(found), MaxBrought)], false
	}
	for _, id := range last {
		if m, is := s.Find(id); is && !slices.Contains(found, m) && len(found) < MaxBrought {
			found = append(found, m)
		}
	}
	return found, true
}

// telling returns the terms of a message by which memos are brought.
func (x *index) telling(message string) []int32 {
	var none []int32
	for _, word := range idle {
		none = x.lexicon.Read(none, word)
	}
	terms := x.lexicon.Read(nil, goOn.ReplaceAllString(message, " "))
	return slices.DeleteFunc(terms, func(t int32) bool { return slices.Contains(none, t) })
}

// Bring is [Set.Select] as it is recorded.
func (s Set) Bring(message string, last *echo.MemosBrought) *echo.MemosBrought {
	found, kept := s.Select(message, IDs(last))
	out := &echo.MemosBrought{Kept: kept}
	for _, m := range found {
		out.Memos = append(out.Memos, echo.BroughtMemo{MemoVersion: m.Recorded(), Text: m.Text, At: m.At, Session: m.By.Session})
	}
	return out
}

// Same reports whether the same versions of memos were brought twice, in the same order; nil is none.
func Same(a, b *echo.MemosBrought) bool {
	if a == nil {
		a = &echo.MemosBrought{}
	}
	if b == nil {
		b = &echo.MemosBrought{}
	}
	return a.Problem == b.Problem && slices.EqualFunc(a.Memos, b.Memos, func(x, y echo.BroughtMemo) bool {
		return x.Memo == y.Memo && x.Version == y.Version
	})
}

// Standing returns the message that stands at the end of a request for the memos that were brought; nil where there are none.
// Where some have stood before, it says that there are none now.
func Standing(b *echo.MemosBrought, stood bool) *echo.Message {
	text := Text(b)
	switch {
	case text == "" && !stood:
		return nil
	case text == "":
		text = "[No memos fit the newest message.]"
	}
	return echo.NewText(echo.RoleUser, echo.KindMemos, text)
}

// Text returns what is sent to a model of the memos that a message has brought; "" where it has brought none.
func Text(b *echo.MemosBrought) string {
	if b == nil || len(b.Memos) == 0 {
		return ""
	}
	memos := make([]*Memo, len(b.Memos))
	for i, m := range b.Memos {
		memos[i] = &Memo{ID: m.Memo, Scope: m.Scope, Text: m.Text, Tags: m.Tags, At: m.At, By: Writer{Session: m.Session}}
	}
	return listed("Memos that the words of the newest message bring. "+are+" Hold them against what you see before you rely on them.", memos)
}

// IDs returns the ids of the memos that a message has brought.
func IDs(b *echo.MemosBrought) (out []string) {
	if b == nil {
		return nil
	}
	for _, m := range b.Memos {
		out = append(out, m.Memo)
	}
	return out
}
