package recollection

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
)

// Document is what a search can find in a bank: a remembered text, or a section of a file.
type Document struct {
	Hash    echo.Hash // of the text; of a section also of where it is
	Text    string
	Origin  string // for the model
	Version echo.MemoryVersion
	message *echo.Message
	segment int // documents of the same one are neighbours
	phase   string
}

// Documents returns what can be found in a bank, the oldest first: the files of the bank and the sections of files of the
// project folder, then the remembered texts, which a search prefers by their age.
func Documents(h *memory.Holdings, project ...*Source) (out []Document) {
	for _, s := range project {
		out = append(out, s.documents(len(out), "")...)
	}
	for _, path := range slices.Sorted(maps.Keys(h.Files)) {
		s := &Source{Path: path, Text: h.Files[path]}
		out = append(out, s.documents(len(out), h.Versions[path])...)
	}
	segment := len(out)
	visits := map[string]int{}
	for i := range h.Texts {
		t := &h.Texts[i]
		visit := fmt.Sprintf("%s\x00%s\x00%d\x00%d", t.Session, t.Phase, t.Visit, t.Item)
		if _, known := visits[visit]; !known {
			visits[visit] = segment
			segment++
		}
		out = append(out, Document{
			Hash: t.Hash, Text: t.Text, Origin: originOf(t), Version: echo.MemoryVersion{Version: string(t.Hash)}, message: messageOf(t), segment: visits[visit], phase: t.Phase,
		})
	}
	return out
}

// Source is a file whose sections can be found.
type Source struct{ Path, Text string }

// documents returns the sections of the file, none the neighbour of another: each is about something else. segment is the first
// one that is free. version is that of a file of a bank; "": each has the hash of its text.
func (s *Source) documents(segment int, version string) (out []Document) {
	for i, part := range Sections(s.Text) {
		d := Document{
			Hash: echo.TextHash([]byte(s.Path + "\x00" + part.Text)), Text: part.Text, Origin: "file " + s.Path,
			Version: echo.MemoryVersion{Path: s.Path, Version: version}, message: echo.NewText(echo.RoleUser, echo.KindAudible, part.Text), segment: segment + i,
		}
		if part.Heading != "" {
			d.Origin += fmt.Sprintf(", section %q", part.Heading)
		}
		if version == "" {
			d.Version.Version = string(d.Hash)
		}
		out = append(out, d)
	}
	return out
}

// messageOf returns the message that a remembered text was said in.
func messageOf(t *memory.Text) *echo.Message {
	if t.Role == echo.RoleTool {
		return echo.NewToolResult(echo.ToolCall{Name: t.Tool}, echo.Text(t.Text), false)
	}
	return echo.NewText(t.Role, t.Kind, t.Text)
}

// originOf says where a remembered text comes from.
func originOf(t *memory.Text) string {
	var b strings.Builder
	switch t.Role { //nolint:exhaustive // nothing is remembered of others
	case echo.RoleTool:
		b.WriteString("result of the tool " + t.Tool)
	case echo.RoleAssistant:
		b.WriteString("answer of a model")
	default:
		b.WriteString("words of a person")
	}
	fmt.Fprintf(&b, ", session %s, phase %s", t.Session, t.Phase)
	if t.Item > 0 {
		fmt.Fprintf(&b, ", element %d", t.Item)
	}
	if t.Turn > 0 {
		fmt.Fprintf(&b, ", turn %d", t.Turn)
	}
	return b.String() + ", " + t.At.UTC().Format("2006-01-02 15:04 UTC")
}

// Settings are those of a search for at most limit documents: relevance counts most, and of what is as relevant the newer.
func Settings(limit int) selection.Settings {
	return selection.Settings{Strategy: echo.StrategyHeuristic, MaxTokens: 1 << 62, MaxMessages: limit, KeywordWeight: 1, RecencyWeight: 0.1}
}

// Index finds documents. It belongs to one goroutine.
type Index struct {
	groups []selection.Group
	words  *selection.Index
}

// NewIndex returns an index of documents, by cards that are extracted from them. count returns the tokens of a text, by which
// a budget is held; nil: there is none.
func NewIndex(docs []Document, count func(text string) int64) *Index {
	x := &Index{groups: make([]selection.Group, len(docs)), words: selection.NewIndex()}
	for i := range docs {
		d := &docs[i]
		card := contextcards.Extract(contextcards.Source{Message: d.message, Phase: d.phase, Order: i + 1}, time.Time{})
		x.groups[i] = selection.Group{
			ID: d.Hash, Items: []echo.Item{{Message: d.message}}, Cards: []contextcards.Card{card}, Segment: d.segment, Phase: d.phase,
		}
		if count != nil {
			x.groups[i].Tokens = count(d.Text)
		}
	}
	return x
}

// Rank chooses among the documents by words, as a selection of earlier messages does. The scores of what it returns are in
// the order of the documents.
func (x *Index) Rank(query string, s selection.Settings) *echo.Selected {
	sel, _ := x.words.Select(query, x.groups, s, nil)
	return sel
}
