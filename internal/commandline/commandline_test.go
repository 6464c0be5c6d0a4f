package commandline_test

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/commandline"
)

func TestTyped(t *testing.T) {
	t.Parallel()
	f := pflag.NewFlagSet("x", pflag.ContinueOnError)
	f.Bool("offline", false, "")
	f.Bool("quiet", true, "")
	f.StringArray("model", nil, "")
	f.String("session", "", "")
	f.Int("limit", 3, "")
	require.NoError(t, f.Parse([]string{"--offline", "--quiet=false", "--model", "a=b", "--model", "it's", "--session", "s"}))
	require.Equal(t, ` --model a=b --model 'it'\''s' --offline --quiet=false`, commandline.Typed(f, "session"))
	require.Equal(t, "''", commandline.Quote(""))
	require.Equal(t, "'$(x)'", commandline.Quote("$(x)"))
}

func TestPath(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"a/b-c": "a/b-c", "my dir": "'my dir'", "it's": `'it'\''s'`, "-x": "./-x", "$(x)": "'$(x)'"} {
		require.Equal(t, want, commandline.Path(word))
	}
}
