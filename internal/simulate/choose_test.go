package simulate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
)

func TestChoosePolicies(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tight.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"window": 2}`), 0o600))
	list, found, err := ChoosePolicies([]string{"full", `near={"window": 1}`, "@" + file}, "given")
	require.NoError(t, err)
	require.Empty(t, found)
	require.Equal(t, []string{"full", "near", "tight"}, []string{list[0].Name, list[1].Name, list[2].Name})
	require.Equal(t, 1, list[1].Intra.Window)
	require.Equal(t, 2, list[2].Intra.Window)

	list, _, err = ChoosePolicies(nil, "given")
	require.NoError(t, err)
	require.Equal(t, ComparisonSet(), list)
}

func TestNoPolicies(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		texts     []string
		want, try string
	}{
		"neither": {
			[]string{"defualt"},
			`policy "defualt": expected one of full, default, every_turn, step:N, hindsight, a JSON object of intra_context settings, or @FILE with one`, "",
		},
		"two of a name":  {[]string{"full", "full"}, `policy: there are two of the name "full"`, "NAME=OBJECT or NAME=@FILE gives one another name"},
		"a known name":   {[]string{"full={}"}, `policy full={}: there is a policy of the name "full" already`, "another name: NAME=OBJECT or NAME=@FILE"},
		"no such file":   {[]string{"@nowhere.json"}, "policy @nowhere.json: open nowhere.json: no such file or directory", "a file with an object of intra_context settings"},
		"a name, nobody": {[]string{"="}, `policy "=": expected one of full, default, every_turn, step:N, hindsight, a JSON object of intra_context settings, or @FILE with one`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found, err := ChoosePolicies(tc.texts, "given")
			require.Empty(t, found)
			require.EqualError(t, err, tc.want)
			var choice *ChoiceError
			require.ErrorAs(t, err, &choice)
			require.Equal(t, tc.try, choice.Try)
		})
	}
	_, found, err := ChoosePolicies([]string{`{"windw": 3}`}, "given")
	require.EqualError(t, err, "the policy is not valid: 1 error")
	require.Len(t, found, 1)
	require.Equal(t, "given", found[0].File)
}

func TestChoosePrices(t *testing.T) {
	t.Parallel()
	cached, away := 0.5, errors.New("no settings")
	lookup := func(model string) (*config.Price, error) {
		return map[string]*config.Price{"cheap": {Input: 2, CachedInput: &cached}, "plain": {Input: 3}}[model], nil
	}
	list, err := ChoosePrices([]string{"0.1", "cheap", "plain"}, lookup)
	require.NoError(t, err)
	require.Equal(t, []Prices{
		{Name: "0.1", Input: 1, Cached: 0.1},
		{Name: "cheap", Input: 2, Cached: 0.5, USD: true},
		{Name: "plain", Input: 3, Cached: 3, USD: true},
	}, list)

	_, err = ChoosePrices([]string{"1", "1"}, lookup)
	require.EqualError(t, err, "prices has 1 twice")
	_, err = ChoosePrices([]string{"nobody"}, lookup)
	require.EqualError(t, err, `prices "nobody": neither a share such as 0.1, nor IN:CACHED such as 2.5:0.25, nor a model whose price is known`)
	_, err = ChoosePrices([]string{"nobody"}, func(string) (*config.Price, error) { return nil, away })
	require.ErrorIs(t, err, away)
}

func TestReadSources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(`[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`), 0o600))
	alone := filepath.Join(dir, "alone.jsonl")
	require.NoError(t, os.WriteFile(alone, []byte(`[{"role":"user","content":"a"}]`), 0o600))
	nobody := func(string) (string, string, error) { return "", "", nil }

	list, err := ReadSources([]string{file, alone}, nobody)
	require.NoError(t, err)
	require.Len(t, list, 2)

	for name, want := range map[string]string{
		dir:       dir + " is a folder",
		"nowhere": `there is no file "nowhere", and no session of this machine with this name`,
		"":        `there is no file "", and no session of this machine with this name`,
		alone:     "there is no call to replay: no conversation has an assistant message with one before it",
	} {
		_, err := ReadSources([]string{name}, nobody)
		require.EqualError(t, err, want)
		require.True(t, failure.Is(err, failure.InvalidRequest))
	}
	ambiguous := failure.Newf(failure.UnknownSession, "two of them")
	_, err = ReadSources([]string{"nowhere"}, func(string) (string, string, error) { return "", "", ambiguous })
	require.Equal(t, ambiguous, err, "an error with a kind keeps it")
}
