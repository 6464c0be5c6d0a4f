package bank

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
)

func (b *testBundle) export(t testing.TB) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, b.store().Export(noteBank, &out))
	return out.String()
}

func (b *testBundle) imports(t testing.TB, text string) *Imported {
	t.Helper()
	out, err := b.store().Import(t.Context(), noteBank, "ann", "x.jsonl", strings.NewReader(text))
	require.NoError(t, err)
	return out
}

func TestExportAndImport(t *testing.T) {
	t.Parallel()
	b, other := setup(t), setup(t)
	b.story(t)
	text := b.export(t)
	require.True(t, strings.HasPrefix(text, `{"windlass_bank_export":1,"name":"notes"}`+"\n"))
	n := strings.Count(text, "\n") - 1
	require.Equal(t, &Imported{Versions: n}, other.imports(t, text))
	require.Equal(t, b.files(t), other.files(t))
	require.Equal(t, text, other.export(t), "with who wrote each version, and when")
	size := len(other.text(t))
	require.Equal(t, &Imported{Known: n}, other.imports(t, text))
	require.Equal(t, &Imported{Known: n}, b.imports(t, text))
	require.Len(t, other.text(t), size, "nothing is added")
	e := other.history(t).Entries[0]
	require.Equal(t, Writer{Person: "ann"}, e.By)
	require.Equal(t, "import", e.Command)
}

// Two machines that write the same file keep both versions. The newest one counts, until the next write settles them.
func TestDivergence(t *testing.T) {
	t.Parallel()
	one, two := setup(t), setup(t)
	begin(t, one.store(), "s").does(t, create(notePath, "old"))
	two.imports(t, one.export(t))
	begin(t, one.store(), "s1").does(t, replaces(notePath, "old", "one"))
	two.ticks.Store(1000) // what is written on two is newer
	begin(t, two.store(), "s2").does(t, replaces(notePath, "old", "two"))
	seen := begin(t, one.store(), "between")
	text := two.export(t)
	require.Equal(t, &Imported{Versions: 1, Known: 1, Divergent: []string{notePath}}, one.imports(t, text))
	require.Equal(t, &Imported{Versions: 1, Known: 2, Divergent: []string{notePath}}, two.imports(t, one.export(t)))
	for _, b := range []*testBundle{one, two} {
		h := b.history(t)
		heads := h.Heads(notePath, h.Last())
		require.Len(t, heads, 2)
		require.Equal(t, []string{"two", "one"}, []string{heads[0].Text, heads[1].Text})
		v, is := h.Current(notePath)
		require.True(t, is)
		require.Equal(t, "two", v.Text)
		require.Equal(t, memory.Files{notePath: "two"}, b.files(t))
	}
	require.Contains(t, seen.does(t, view(notePath)).Text, "one")
	require.True(t, seen.call(t, replaces(notePath, "one", "mine")).Conflict)
	seen.does(t, replaces(notePath, "two", "both"))
	h := one.history(t)
	heads := h.Heads(notePath, h.Last())
	require.Len(t, heads, 1)
	require.Len(t, heads[0].Parents, 2)
	require.Equal(t, &Imported{Versions: 1, Known: 3}, two.imports(t, one.export(t)))
	require.Equal(t, memory.Files{notePath: "both"}, two.files(t))
}

// A file that one machine has deleted and the other has changed is kept.
func TestDivergentDeletion(t *testing.T) {
	t.Parallel()
	one, two := setup(t), setup(t)
	begin(t, one.store(), "s").does(t, create(notePath, "old"))
	two.imports(t, one.export(t))
	begin(t, one.store(), "s1").does(t, replaces(notePath, "old", "one"))
	two.ticks.Store(1000)
	begin(t, two.store(), "s2").does(t, remove(notePath))
	require.Equal(t, []string{notePath}, one.imports(t, two.export(t)).Divergent)
	require.Equal(t, memory.Files{notePath: "one"}, one.files(t))
	begin(t, one.store(), "s3").does(t, remove(notePath))
	require.Empty(t, one.files(t))
}

// An export is a list of versions in any order.
func TestImportInAnyOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	s.does(t, create(notePath, "0"))
	for i := range 4 {
		s.does(t, replaces(notePath, fmt.Sprint(i), fmt.Sprint(i+1)))
	}
	lines := strings.SplitAfter(strings.TrimSuffix(b.export(t), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	for n := 2; n < len(lines); n++ {
		other := setup(t)
		out := other.imports(t, lines[0]+lines[n])
		require.Empty(t, out.Divergent)
		out = other.imports(t, lines[0]+lines[n]+strings.Join(lines[1:n], ""))
		require.Equal(t, 1, out.Known)
		require.Empty(t, out.Divergent)
		other.imports(t, strings.Join(lines, ""))
		require.Equal(t, memory.Files{notePath: "4"}, other.files(t))
	}
}

// line is a version as an export has it, after a change and with the id that follows from it then.
func line(t *testing.T, change func(v *Version)) string {
	t.Helper()
	v := Version{Path: notePath, Text: "a", Hash: echo.TextHash([]byte("a")), Origin: &Origin{Command: "create"}}
	change(&v)
	if v.ID == "" && v.Origin != nil {
		id, err := idOf(v, *v.Origin)
		require.NoError(t, err)
		v.ID = id
	}
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text) + "\n"
}

func TestWrongImports(t *testing.T) {
	t.Parallel()
	const first = `{"windlass_bank_export":1,"name":"notes"}` + "\n"
	text := func(path, s string) func(v *Version) {
		return func(v *Version) { v.Path, v.Text, v.Hash = path, s, echo.TextHash([]byte(s)) }
	}
	good := first + line(t, func(*Version) {})
	for want, text := range map[string]string{
		"read x: it is empty": "",
		"read x:1: it is no export of a bank of version 1 to 3":                                                    `{"windlass_bank_export":4}` + "\n",
		"read x:1: it is no export of a bank of version 1 to 3 ":                                                   "\x00\n",
		"read x:2: it is no version of a bank: unexpected end of JSON input":                                       first + good[len(first):len(good)-9],
		"read x:2: it is no version of a bank: id cannot be a JSON number":                                         first + `{"id":1}` + "\n",
		"read x:2: it is no version of a bank: origin.by.session cannot be a JSON array":                           first + `{"origin":{"by":{"session":[]}}}` + "\n",
		"read x:2: it is no version of a bank":                                                                     first + `{"origin":{"at":"today"}}` + "\n",
		"read x:2: it is no version of a bank ":                                                                    first + "[]\n",
		"read x:2: the version has no origin":                                                                      first + line(t, func(v *Version) { v.Origin = nil }),
		"read x:3: the id of the version does not follow from it: it was changed":                                  good + line(t, func(v *Version) { v.ID = "0123456789abcdef" }),
		"read x:2: the text is not that of its hash: it was changed":                                               first + line(t, func(v *Version) { v.Text = "b" }),
		"read x:2: a version without a text has one":                                                               first + line(t, func(v *Version) { v.Gone = true }),
		"read x:2: a version without a text has one ":                                                              first + line(t, func(v *Version) { v.Forgotten = true }),
		"read x:2: a version that it replaces has an id that windlass does not write":                              first + line(t, func(v *Version) { v.Parents = []string{"\x1b[31m"} }),
		"read x:2: Path must start with /memories, got: /etc/passwd":                                               first + line(t, text("/etc/passwd", "a")),
		"read x:2: Path /memories/../../etc would escape /memories directory":                                      first + line(t, text("/memories/../../etc", "a")),
		"read x:2: Path must start with /memories, got: /etc":                                                      first + line(t, func(v *Version) { v.From = "/etc" }),
		"read x:2: /memories is the path of a folder":                                                              first + line(t, text("/memories", "a")),
		"read x:2: /memories/a/ is the path of a folder":                                                           first + line(t, text("/memories/a/", "a")),
		"read x:2: The text of /memories/a would have a NUL character":                                             first + line(t, text("/memories/a", "\x00")),
		"read x:2: The file /memories/a would have 102401 bytes, the limit is 102400. Split it into several files": first + line(t, text("/memories/a", strings.Repeat("x", memory.MaxFile+1))),
		"read x:2: the line has more than 1662976 bytes":                                                           first + strings.Repeat("x", maxImport+1),
		"import x into the bank notes: The path /memories/a.md/b cannot be in /memories/a.md, which is a file":     good + line(t, text("/memories/a.md/b", "b")),
		"import x into the bank notes: There would be 1001 files in /memories, the limit is 1000. Delete or merge files first": first + func() string {
			var out strings.Builder
			for i := range 1001 {
				out.WriteString(line(t, text(fmt.Sprint("/memories/", i), "a")))
			}
			return out.String()
		}(),
	} {
		b := setup(t)
		_, err := b.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader(text))
		require.EqualError(t, err, strings.TrimSuffix(want, " "))
		require.True(t, failure.Is(err, failure.InvalidRequest))
		require.Empty(t, b.history(t).Entries, "all or none")
	}
	b := setup(t)
	require.Equal(t, &Imported{Versions: 1, Known: 1}, b.imports(t, good+good[len(first):]), "twice in one export")
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
func (full) Read([]byte) (int, error)  { return 0, errFull }

func TestTransferErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.ErrorIs(t, b.store().Export(noteBank, full{}), errFull)
	_, err := b.store().Import(t.Context(), noteBank, "ann", "x", full{})
	require.EqualError(t, err, "read x:1: the disk is full")
	require.EqualError(t, b.store().Export("N", full{}), memory.CheckName("N").Error())
	_, err = b.store().Import(t.Context(), "N", "ann", "x", full{})
	require.EqualError(t, err, memory.CheckName("N").Error())
}
