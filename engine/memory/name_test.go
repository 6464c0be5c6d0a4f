package memory

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "0", "a-b_c", strings.Repeat("a", 64), "shared:a", "shared"} {
		require.NoError(t, CheckName(name), name)
	}
	const why = " is no name of a bank: it has 1 to 64 lower-case letters, digits, - and _, and begins with a letter or a digit; " +
		"a bank that all projects share has shared: before its name"
	for name, shown := range map[string]string{
		"": `""`, "A": `"A"`, "-a": `"-a"`, "_": `"_"`, "a.b": `"a.b"`, "a/b": `"a/b"`, "..": `".."`, "a b": `"a b"`, "ä": `"ä"`, "a\n": `"a\n"`, "shared:": `"shared:"`,
		"shared:shared:a": `"shared:shared:a"`, "SHARED:a": `"SHARED:a"`, "\x1b": `"\x1b"`, strings.Repeat("a", 65): `"` + strings.Repeat("a", 65) + `"`,
	} {
		require.EqualError(t, CheckName(name), shown+why)
	}
	rest, shared := Split("shared:a")
	require.Equal(t, "a", rest)
	require.True(t, shared)
	rest, shared = Split("shared")
	require.Equal(t, "shared", rest)
	require.False(t, shared)
}
