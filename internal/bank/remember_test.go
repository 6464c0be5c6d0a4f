package bank

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
)

// remembering is what is to be remembered of a visit of a session.
func remembering(session string, visit int, texts ...string) *memory.Remembering {
	r := &memory.Remembering{Bank: noteBank, Session: session, Key: echo.PhaseKey("p", visit)}
	for i, text := range texts {
		r.Texts = append(r.Texts, memory.Text{
			Hash: echo.TextHash([]byte(text)), Role: echo.RoleAssistant, Kind: echo.KindAnswer, Session: session, Phase: "p", Visit: visit, Attempt: 1, Turn: i + 1, Text: text,
		})
	}
	return r
}

func (s *session) remembers(t testing.TB, visit int, texts ...string) *echo.MemoryCall {
	t.Helper()
	out, err := s.Remember(t.Context(), remembering(s.id, visit, texts...))
	require.NoError(t, err)
	return out
}

func textsOf(h *History, seen memory.Seen) (out []string) {
	for _, text := range h.Texts(seen) {
		out = append(out, text.Session+": "+text.Text)
	}
	return out
}

func hashesOf(call *echo.MemoryCall) (out []string) {
	for _, v := range call.Wrote {
		out = append(out, v.Version)
	}
	return out
}

// A bank has each text once. A repeated call writes nothing and comes to the same, whatever others have remembered since.
func TestRemember(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := begin(t, b.store(), "first"), begin(t, b.store(), "second")
	done := first.remembers(t, 1, "one", "two", "one")
	require.Equal(t, []string{"remember", noteBank, first.seenIn(t)}, []string{done.Command, done.Bank, done.Project})
	require.Equal(t, []string{string(echo.TextHash([]byte("one"))), string(echo.TextHash([]byte("two")))}, hashesOf(done))
	require.Equal(t, []string{string(echo.TextHash([]byte("three")))}, hashesOf(second.remembers(t, 1, "two", "three")))
	require.Equal(t, done, first.remembers(t, 1, "one", "two", "one"))
	require.Equal(t, hashesOf(done), hashesOf(begin(t, b.store(), "first").remembers(t, 1, "one", "two", "one")), "another process")
	require.Empty(t, hashesOf(first.remembers(t, 2, "one")))
	h := b.history(t)
	require.Equal(t, []string{"first: one", "first: two", "second: three"}, textsOf(h, h.Now()))
	require.Empty(t, textsOf(h, first.seen))
	own := first.seen
	own.Own = map[echo.Hash]bool{echo.TextHash([]byte("two")): true}
	require.Equal(t, []string{"first: two"}, textsOf(h, own))
	require.False(t, h.Texts(h.Now())[0].At.IsZero())
}

// seenIn returns the project of the bank.
func (s *session) seenIn(t testing.TB) string {
	t.Helper()
	ref, err := RefOf(noteBank, s.folder)
	require.NoError(t, err)
	return ref.Project()
}

// A bank is of the first version of files until it remembers something, and another process goes on with it.
func TestVersionOfABankThatRemembers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, other := begin(t, b.store(), "s"), begin(t, b.store(), "t")
	s.does(t, create(notePath, "a"))
	other.does(t, create("/memories/b.md", "b"))
	require.True(t, strings.HasPrefix(b.text(t), `{"windlass_bank":1,`))
	s.remembers(t, 1, "one")
	require.True(t, strings.HasPrefix(b.text(t), `{"windlass_bank":2,`))
	other.does(t, create("/memories/c.md", "c"))
	s.does(t, create("/memories/d.md", "d"))
	other.remembers(t, 1, "two")
	h := b.history(t)
	require.Len(t, h.Files(h.Now()), 4)
	require.Equal(t, []string{"s: one", "t: two"}, textsOf(h, h.Now()))
	_, err := b.store().Forget(t.Context(), noteBank, "ann", notePath)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(b.text(t), `{"windlass_bank":2,`))
	begin(t, b.store(), "u").remembers(t, 1, "three")
	require.Len(t, b.history(t).Texts(b.history(t).Now()), 3)
}

// A remembered text that was changed in the file is damage, and so much cannot be remembered that nobody can read it.
func TestDamagedTextsAndLimits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	s.remembers(t, 1, "one")
	e := *b.history(t).Entries[1]
	e.Texts = []memory.Text{{Hash: e.Texts[0].Hash, Text: "other"}}
	require.EqualError(t, e.check(2), "the remembered text "+string(e.Texts[0].Hash)+" is not that of its hash")

	var texts []string
	for i := range memory.MaxTexts/memory.MaxText + 1 {
		texts = append(texts, fmt.Sprintf("%06d", i)+strings.Repeat("x", memory.MaxText-6))
	}
	_, err := s.Remember(t.Context(), remembering("s", 2, texts...))
	require.EqualError(t, err, "the bank notes would have remembered 67174403 bytes, the limit is 67108864: forget what nobody needs, or use another bank")
	require.True(t, failure.Is(err, failure.InvalidRequest))
}

// Texts go to another machine with an export, and are there once.
func TestExportOfTexts(t *testing.T) {
	t.Parallel()
	b, other := setup(t), setup(t)
	s := begin(t, b.store(), "s")
	s.does(t, create(notePath, "a"))
	s.remembers(t, 1, "one", "two")
	var export strings.Builder
	require.NoError(t, b.store().Export(noteBank, &export))
	require.True(t, strings.HasPrefix(export.String(), `{"windlass_bank_export":2,`))
	begin(t, other.store(), "t").remembers(t, 1, "two", "three")
	for i, want := range []Imported{{Versions: 1, Texts: 1, Known: 1}, {Known: 3}} {
		done, err := other.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader(export.String()))
		require.NoError(t, err)
		require.Equal(t, want, *done, i)
	}
	h := other.history(t)
	require.Equal(t, []string{"t: two", "t: three", "s: one"}, textsOf(h, h.Now()))

	lines := strings.SplitAfter(export.String(), "\n")
	for want, line := range map[string]string{
		"read x:2: the text is not that of its hash: it was changed":         strings.Replace(lines[2], `"text":"one"`, `"text":"two"`, 1),
		"read x:2: a forgotten text is there":                                strings.Replace(lines[2], `"text":"one"`, `"text":"one","forgotten":true`, 1),
		"read x:2: the text has 102401 bytes, the limit is 102400":           long(t, strings.Repeat("x", memory.MaxText+1)),
		"read x:2: it is no version of a bank: unexpected end of JSON input": lines[2][:len(lines[2])/2] + "\n",
	} {
		_, err := other.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader(lines[0]+line))
		require.EqualError(t, err, want)
	}
	require.NoError(t, os.WriteFile(b.path(t)+".new", []byte("left by a process that died"), 0o600))
}

func long(t testing.TB, text string) string {
	t.Helper()
	return fmt.Sprintf(`{"remembered":{"hash":"%s","role":"user","kind":"audible","session":"s","phase":"p","at":"2026-03-04T05:06:07Z","text":"%s"}}`+"\n", echo.TextHash([]byte(text)), text)
}

// recalls notes that a session is told texts.
func (s *session) recalls(t testing.TB, turn int, texts ...string) {
	t.Helper()
	q := &memory.Search{Bank: noteBank, Session: s.id, Key: echo.PhaseKey("p", 1).Attempt(1).Turn(turn).Numbered(echo.StepTool, 1), Seen: s.seen}
	q.Choose = func(h *memory.Holdings) (told []echo.MemoryVersion) {
		for i := range h.Texts {
			for _, text := range texts {
				if h.Texts[i].Text == text {
					told = append(told, echo.MemoryVersion{Version: string(h.Texts[i].Hash)})
				}
			}
		}
		for path, id := range h.Versions {
			told = append(told, echo.MemoryVersion{Path: path, Version: id})
		}
		return told
	}
	require.NoError(t, s.Search(t.Context(), q))
}

// A search is a reading: of files and of texts. What nobody reads for long is counted.
func TestReadersOfTexts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := begin(t, b.store(), "first")
	first.does(t, create(notePath, "a"))
	first.remembers(t, 1, "one", "two")
	second := begin(t, b.store(), "second")
	second.recalls(t, 1, "one")
	begin(t, b.store(), "third").recalls(t, 1, "one", "none")
	second.recalls(t, 2, "one")
	h := b.history(t)
	all := h.Recollections()
	require.Equal(t, []string{"third", "second"}, all[0].ReadBy)
	require.Empty(t, all[1].ReadBy)
	require.Equal(t, "p/attempt1/turn2", all[1].Key().String())
	require.Len(t, h.Readers(notePath), 3)
	for i := range UnreadRuns {
		begin(t, b.store(), fmt.Sprint("later", i))
	}
	require.Equal(t, 2, b.history(t).UnreadTexts(UnreadRuns))
	require.Equal(t, 1, b.history(t).UnreadTexts(UnreadRuns+1))
	list, err := b.store().List(false)
	require.NoError(t, err)
	require.Equal(t, []int{2, 2}, []int{list[0].Texts, list[0].Idle})
}

// A forgotten text is gone from the file, for runs that go on too, and is not remembered again. Its readers are named.
func TestForgetTexts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := begin(t, b.store(), "first"), begin(t, b.store(), "second")
	first.remembers(t, 1, "a secret of somebody", "two")
	late := begin(t, b.store(), "late")
	late.recalls(t, 1, "a secret of somebody")
	hash := echo.TextHash([]byte("a secret of somebody"))
	require.Equal(t, 1, b.history(t).TextsToForget([]echo.Hash{hash}).Texts)
	done, err := b.store().ForgetTexts(t.Context(), noteBank, "ann", []echo.Hash{hash})
	require.NoError(t, err)
	require.Equal(t, &Forgotten{
		Texts: 1, Sessions: []string{"first", "late"},
		Calls: []Writer{{Session: "first", Key: echo.MustKey("p/attempt1/turn1")}, {Session: "late", Key: echo.MustKey("p/attempt1/turn1/tool1")}},
	}, done)
	require.NotContains(t, b.text(t), "a secret of somebody")
	require.Empty(t, hashesOf(second.remembers(t, 1, "a secret of somebody")))
	h := b.history(t)
	require.Equal(t, []string{"first: two"}, textsOf(h, late.seen))
	require.True(t, h.Recollections()[0].Forgotten)
	require.Equal(t, 0, h.UnreadTexts(2))
	_, err = b.store().ForgetTexts(t.Context(), noteBank, "ann", []echo.Hash{hash})
	require.EqualError(t, err, "forget texts of the bank notes: it has none of them any more")

	var export strings.Builder
	require.NoError(t, b.store().Export(noteBank, &export))
	other := setup(t)
	imported, err := other.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader(export.String()))
	require.NoError(t, err)
	require.Equal(t, 2, imported.Texts, "what is forgotten stays so elsewhere")
	require.Empty(t, hashesOf(begin(t, other.store(), "t").remembers(t, 1, "a secret of somebody")))
}
