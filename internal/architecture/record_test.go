package architecture

import (
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rawData are the places outside echo that handle the data of entries as bytes, each with its
// reason. All others use echo.Read and echo.Entry.Set.
var rawData = map[string]string{
	"engine/effect.withoutSecrets":         "secrets are taken out of the JSON, whatever it says",
	"engine/effect.comparable":             "what is verified are the recorded bytes",
	"engine/effect.(Writer).Reading":       "the outcome of an effect is what is recorded of it",
	"engine/effect.(Recorder).Value":       "the outcome of an effect is what is recorded of it",
	"engine/effect.(redacted).excuses":     "what was redacted is taken as it is recorded",
	"engine/effect.(Answered).Value":       "the outcome of an effect is what is recorded of it",
	"engine/effect.answerReading":          "a recorded reading is recorded again as it is",
	"internal/snapshot.answerOf":           "a frozen test keeps an outcome as it is recorded",
	"internal/snapshot.(Answer).entry":     "a frozen test keeps an outcome as it is recorded",
	"internal/clickhouse.logTable":         "data_json is a column",
	"internal/clickhouse.(logRow).restore": "data_json is a column",
	"internal/clickhouse.entrySize":        "memory is counted",
}

// What an entry says is read and written by the types of echo: nothing else knows the form of
// Entry.Data. Tests may, as they hold recorded bytes against what they should be.
func TestOnlyEchoKnowsTheDataOfEntries(t *testing.T) {
	t.Parallel()
	c := wholeModule(t)
	field := c.dataOfEntry(t)
	used := map[string]bool{}
	for _, p := range c.outsideEcho() {
		for _, u := range c.dataUses(p, field) {
			used[u.place] = true
			if rawData[u.place] == "" {
				t.Errorf("%s:%d (%s) uses the data of an entry as JSON: use echo.Read or Entry.Set, with a type in echo/data_*.go", u.file, u.line, u.place)
			}
		}
	}
	for place := range rawData {
		require.True(t, used[place], "%s is listed, and does not use the data of an entry any more", place)
	}
}

// wholeEntries are functions outside echo that read the JSON of whole entries into something else
// than an entry, each with its reason.
var wholeEntries = map[string]string{
	"internal/snapshot.decode": "a frozen test hides what belongs to the machine in whole entries",
}

// What an entry says is decoded by echo.Read and echo.Decode, also where its data is a bare
// json.RawMessage by then, or is in the JSON of the whole entry. The test cannot see entries in
// JSON that was not encoded by the module's own code from a value of that type, such as a struct
// that has an entry in it, readers of types of the module's own, nor what [flow] does not follow.
func TestOnlyEchoDecodesTheDataOfEntries(t *testing.T) {
	t.Parallel()
	c := wholeModule(t)
	f := newFlow(entryData{c.dataOfEntry(t)}, c.outsideEcho()...)
	used := map[string]bool{}
	for _, p := range c.outsideEcho() {
		for _, u := range c.dataCuts(f, p) {
			if used[u.place] = true; wholeEntries[u.place] != "" {
				continue
			}
			t.Errorf("%s:%d (%s) reads the data of an entry by %s: use echo.Read or echo.Decode, with a type in echo/data_*.go", u.file, u.line, u.place, u.by)
		}
	}
	for place := range wholeEntries {
		require.True(t, used[place], "%s is listed, and does not read whole entries any more", place)
	}
}

// shownKeys are functions outside echo that shorten the text of a key among others, for those who
// read it, each with its reason.
var shownKeys = map[string]string{
	"internal/excerpt.Clip":   "cuts what a person or a model reads to a length, whatever it says",
	"internal/figures.Quoted": "writes a text as a string of SQL, whatever it says",
}

// What is in a key, Key.Path and the other methods say, and keys are made by methods of keys. The
// text is for people, and for columns and files that keep it. Tests may compare it with what it
// should be. The test cannot see a text that comes out of a file or of JSON with more in it than
// the key, what a strings.Builder puts together, a function of strings or of bytes that is called by a
// variable, nor what [flow] does not follow.
func TestOnlyEchoTakesKeysApart(t *testing.T) {
	t.Parallel()
	c := wholeModule(t)
	f := newFlow(keyTexts{}, c.outsideEcho()...)
	used := map[string]bool{}
	for _, p := range c.outsideEcho() {
		for _, u := range slices.Concat(c.keyCuts(f, p), c.sqlCuts(p)) {
			if used[u.place] = true; shownKeys[u.place] != "" {
				continue
			}
			t.Errorf("%s:%d (%s) takes the text of a key apart by %s: use Key.Path, Under, Step, VisitKey, ..., and in SQL the columns "+
				"of a key's parts", u.file, u.line, u.place, u.by)
		}
	}
	for place := range shownKeys {
		require.True(t, used[place], "%s is listed, and takes no text of a key apart any more", place)
	}
}

// The same of files with SQL.
func TestSQLTakesNoKeysApart(t *testing.T) {
	t.Parallel()
	names, err := sqlFiles("../..")
	require.NoError(t, err)
	require.Contains(t, names, filepath.FromSlash("../../internal/clickhouse/schema.sql"))
	for _, name := range names {
		cuts, err := fileCuts(name)
		require.NoError(t, err)
		for _, u := range cuts {
			t.Errorf("%s:%d takes the text of a key apart by %s: use the columns of a key's parts", name, u.line, u.by)
		}
	}
	const fixture = "testdata/record.sql"
	cuts, err := fileCuts(fixture)
	require.NoError(t, err)
	found := map[int]string{}
	for _, u := range cuts {
		found[u.line] = u.by
	}
	require.Equal(t, wanted(t, fixture, "-- want "), found)
}

// Both rules find what they are made for, and nothing else. Lines of the fixture say what is to be
// found there.
func TestRulesOfTheRecordFindTheFixture(t *testing.T) {
	t.Parallel()
	c := wholeModule(t)
	const name = "testdata/record.go"
	p, err := c.check("fixture", name)
	require.NoError(t, err)
	found := map[int]string{}
	for _, u := range c.dataUses(p, c.dataOfEntry(t)) {
		found[u.line] = "data"
	}
	for _, u := range c.dataCuts(newFlow(entryData{c.dataOfEntry(t)}, p), p) {
		found[u.line] = strings.TrimPrefix(found[u.line]+" "+u.by, " ")
	}
	for _, u := range slices.Concat(c.keyCuts(newFlow(keyTexts{}, p), p), c.sqlCuts(p)) {
		found[u.line] = u.by
	}
	require.Equal(t, wanted(t, name, "// want "), found)
}

// wanted returns what lines of a fixture say after a mark.
func wanted(t *testing.T, name, mark string) map[int]string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	want := map[int]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if _, what, ok := strings.Cut(line, mark); ok {
			want[i+1] = what
		}
	}
	require.NotEmpty(t, want)
	return want
}

// outsideEcho returns all packages but echo itself, whose business the text of keys and the data of
// entries are.
func (c *checked) outsideEcho() []*checkedPackage {
	return slices.DeleteFunc(slices.Clone(c.packages), func(p *checkedPackage) bool { return p.path == "echo" })
}

// use is a place where a rule applies.
type use struct {
	place, file string
	line        int
	by          string
}

func (c *checked) echo(t *testing.T) *types.Scope {
	t.Helper()
	require.Contains(t, c.types, module+"echo")
	return c.types[module+"echo"].Scope()
}

// dataOfEntry returns the field Data of echo.Entry.
func (c *checked) dataOfEntry(t *testing.T) types.Object {
	t.Helper()
	entry, ok := c.echo(t).Lookup("Entry").Type().Underlying().(*types.Struct)
	require.True(t, ok)
	for f := range entry.Fields() {
		if f.Name() == "Data" {
			return f
		}
	}
	t.Fatal("echo.Entry has no field Data")
	return nil
}
