package bank

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
)

// withMessages gives texts messages of their own: the hash of a text with "message " before it.
func withMessages(r *memory.Remembering) *memory.Remembering {
	for i := range r.Texts {
		r.Texts[i].Message = messageHash(r.Texts[i].Text)
	}
	return r
}

func messageHash(text string) echo.Hash { return echo.TextHash([]byte("message " + text)) }

func withdrawal(session string, number int, texts ...string) Withdrawal {
	w := Withdrawal{Session: session, Number: number}
	for _, text := range texts {
		w.Messages = append(w.Messages, messageHash(text))
	}
	return w
}

// What people take out of a session no run finds any more, until they take that back; also what is remembered only later.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := begin(t, b.store(), "first"), begin(t, b.store(), "second")
	withdraw := func(w Withdrawal) {
		t.Helper()
		require.NoError(t, b.store().Withdraw(t.Context(), noteBank, "ann", w))
	}
	withdraw(withdrawal("first", 1)) // nothing is out: nothing is written
	require.Len(t, b.history(t).Entries, 2)
	_, err := first.Remember(t.Context(), withMessages(remembering("first", 1, "one", "two")))
	require.NoError(t, err)
	_, err = second.Remember(t.Context(), withMessages(remembering("second", 1, "three")))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(b.text(t), `{"windlass_bank":2,`))

	withdraw(withdrawal("first", 1, "one", "late", "three"))
	require.True(t, strings.HasPrefix(b.text(t), `{"windlass_bank":3,`), "an older windlass does not overlook it")
	h := b.history(t)
	require.Equal(t, []string{"first: two", "second: three"}, textsOf(h, h.Now()))
	require.Equal(t, []string{"first: two", "second: three"}, textsOf(h, memory.Seen{Start: h.Last() - 1}), "also for who has begun before")
	own := memory.Seen{Own: map[echo.Hash]bool{echo.TextHash([]byte("one")): true, echo.TextHash([]byte("two")): true}}
	require.Equal(t, []string{"first: two"}, textsOf(h, own))
	require.True(t, h.Recollections()[0].Withdrawn)
	require.False(t, h.Recollections()[1].Withdrawn)
	require.Equal(t, 2, h.UnreadTexts(0))
	_, err = first.Remember(t.Context(), withMessages(remembering("first", 2, "late")))
	require.NoError(t, err)
	require.Equal(t, []string{"first: two", "second: three"}, textsOf(b.history(t), b.history(t).Now()))
	var export strings.Builder
	require.NoError(t, b.store().Export(noteBank, &export))
	require.NotContains(t, export.String(), `"one"`)
	require.True(t, strings.HasPrefix(export.String(), `{"windlass_bank_export":2,`))

	// Somebody else says the same.
	_, err = second.Remember(t.Context(), withMessages(remembering("second", 2, "one")))
	require.NoError(t, err)
	require.Equal(t, []string{"first: two", "second: three", "second: one"}, textsOf(b.history(t), b.history(t).Now()))

	// An older change comes late, a repeated one writes nothing.
	entries := len(b.history(t).Entries)
	withdraw(withdrawal("first", 1, "two"))
	withdraw(withdrawal("first", 1, "one", "late", "three"))
	require.Len(t, b.history(t).Entries, entries)

	withdraw(withdrawal("first", 2))
	h = b.history(t)
	require.Equal(t, []string{"first: one", "first: two", "second: three", "first: late"}, textsOf(h, h.Now()))
	_, err = b.store().ForgetTexts(t.Context(), noteBank, "ann", []echo.Hash{echo.TextHash([]byte("one"))})
	require.NoError(t, err)
	require.NotContains(t, b.text(t), `"text":"one"`)
	require.Equal(t, []string{"first: two", "second: three", "first: late"}, textsOf(b.history(t), b.history(t).Now()))
}

// An export from before does not bring a text back that was withdrawn since; what another session said elsewhere it brings.
func TestImportOfWithdrawn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	_, err := s.Remember(t.Context(), withMessages(remembering("s", 1, "one", "two")))
	require.NoError(t, err)
	var export strings.Builder
	require.NoError(t, b.store().Export(noteBank, &export))
	require.NoError(t, b.store().Withdraw(t.Context(), noteBank, "ann", withdrawal("s", 1, "one")))
	done, err := b.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader(export.String()))
	require.NoError(t, err)
	require.Equal(t, Imported{Known: 2}, *done)
	require.Equal(t, []string{"s: two"}, textsOf(b.history(t), b.history(t).Now()))
	done, err = b.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader(strings.ReplaceAll(export.String(), `"session":"s"`, `"session":"t"`)))
	require.NoError(t, err)
	require.Equal(t, Imported{Texts: 1, Known: 1}, *done)
}

// Nothing to write makes no file: an import of nothing, or a write that is refused.
func TestNothingMakesNoFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader(`{"windlass_bank_export":1,"name":"notes"}`+"\n"))
	require.NoError(t, err)
	require.NoFileExists(t, b.path(t))
	_, err = b.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader("{}\n"))
	require.Error(t, err)
	require.NoError(t, b.store().Withdraw(t.Context(), noteBank, "ann", withdrawal("s", 1)))
	require.NoFileExists(t, b.path(t))
}

// A session whose id was used before is another one.
func TestWithdrawOfAnEarlierSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	_, err := s.Remember(t.Context(), withMessages(remembering("s", 1, "one")))
	require.NoError(t, err)
	w := withdrawal("s", 1, "one")
	w.Began = 7
	require.NoError(t, b.store().Withdraw(t.Context(), noteBank, "ann", w))
	h := b.history(t)
	require.Equal(t, []string{"s: one"}, textsOf(h, h.Now()))
	require.EqualError(t, b.store().Withdraw(t.Context(), "../x", "ann", w), memory.CheckName("../x").Error())
}
