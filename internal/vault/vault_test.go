package vault

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	keep, hide := split([]string{"A=1", "B_TOKEN=2", "C=3", "D_TOKEN="}, []string{"C", "D"})
	require.Equal(t, []string{"A=1", "D_TOKEN="}, keep)
	require.Equal(t, []string{"B_TOKEN=2", "C=3"}, hide)
}

func TestNamesInAConfiguration(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"ONE", "TWO", "THREE", "", "FOUR"}, namesIn(`{"models": {"a": {"api_key_env": "ONE", "headers": {"X": "${THREE}", "Y": "${}"}},
		"b": {"api_key_env"  :
		"TWO"}, "c": {"api_key_env": 7}, "d": "api_key_env"}, "e": "${FOUR`))
	require.Empty(t, namesIn(`{}`))
}

func TestTheBinaryOfATestIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	require.Equal(t, State{}, Current())
}
