package echo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What an entry says beside its key is what the path of the key says.
func TestEntriesSayWhatTheirKeysSay(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]Entry{
		"run/start":                             {},
		"run/facts/openai%2Fgpt-5":              {},
		"cards/call7":                           {},
		"run~1/start":                           {Phase: "run"},
		"draft~2/attempt1/turn3/model2":         {Phase: "draft", Attempt: 1, Turn: 3},
		"a%7Eb%2Fc/attempt2":                    {Phase: "a~b/c", Attempt: 2},
		"%/start":                               {},
		"d/sounding3/item17/sounding2/attempt4": {Phase: "d", Attempt: 4, Sounding: 2},
		"d/node3/attempt1/turn12":               {Phase: "d", Attempt: 1, Turn: 12},
		"d/child/sounding9":                     {Phase: "d"},
		"d/attempt1/turn2/state/turn8":          {Phase: "d", Attempt: 1, Turn: 2},
	} {
		e := Entry{Key: MustKey(key), Phase: "other", Attempt: 99, Turn: 99, Sounding: 99}
		require.Error(t, e.CheckKey(), key)
		e.SetKeyFields()
		want.Key = MustKey(key)
		require.Equal(t, want, e)
		require.NoError(t, e.CheckKey())
		p := e.Key.Path()
		require.Equal(t, []any{p.Phase, p.Attempt, p.Turn}, []any{e.Phase, e.Attempt, e.Turn})
	}
}

func TestCheckKeyRefuses(t *testing.T) {
	t.Parallel()
	const key = "draft/sounding2/attempt1/turn3/model"
	sound := Entry{Seq: 7, Key: MustKey(key), Phase: "draft", Attempt: 1, Turn: 3, Sounding: 2}
	require.NoError(t, sound.CheckKey())
	for want, change := range map[string]func(e *Entry){
		`it has no key`: func(e *Entry) { e.Key = Key{} },
		`its phase is "plan", but its key ` + key + ` says "draft"`: func(e *Entry) { e.Phase = "plan" },
		`its phase is "", but its key ` + key + ` says "draft"`:     func(e *Entry) { e.Phase = "" },
		`its attempt is 2, but its key ` + key + ` says 1`:          func(e *Entry) { e.Attempt = 2 },
		`its turn is -3, but its key ` + key + ` says 3`:            func(e *Entry) { e.Turn = -3 },
		`its sounding is 0, but its key ` + key + ` says 2`:         func(e *Entry) { e.Sounding = 0 },
	} {
		e := sound
		change(&e)
		require.EqualError(t, e.CheckKey(), want)
	}
}

// Nothing is allocated for the check of an entry: it is done for every line of a journal that is
// read.
func TestCheckKeyDoesNotAllocate(t *testing.T) {
	e := Entry{Key: MustKey("draft~2/item17/sounding2/attempt1/turn3/validate/fair/model")}
	e.SetKeyFields()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if e.CheckKey() != nil {
			panic("the entry is sound")
		}
	}))
}

// An entry without a place is not recorded, as no journal with it can be read.
func TestAppendWithoutAKey(t *testing.T) {
	t.Parallel()
	log := NewLog("s1", nil, nil)
	require.EqualError(t, log.Append(&Entry{NodeType: NodeMessage}), "append a message entry: it has no key")
	require.Zero(t, log.Len())
}

func BenchmarkCheckKey(b *testing.B) {
	e := Entry{Key: MustKey("draft~2/item17/sounding2/attempt1/turn3/model")}
	e.SetKeyFields()
	b.ReportAllocs()
	for b.Loop() {
		if e.CheckKey() != nil {
			b.Fatal("the entry is sound")
		}
	}
}

func BenchmarkParseKey(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseKey("draft~2/item17/sounding2/attempt1/turn3/model"); err != nil {
			b.Fatal(err)
		}
	}
}
