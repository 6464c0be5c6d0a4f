package echo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// TestRetracted: a retraction takes back one answer with what followed from it, and nothing that a person has said.
func TestRetracted(t *testing.T) {
	t.Parallel()
	kinds := map[rune]echo.Draft{
		't': {Role: echo.RoleUser, Kind: echo.KindTask}, 'a': {Role: echo.RoleAssistant, Kind: echo.KindAnswer},
		'r': {Role: echo.RoleTool, Kind: echo.KindToolResult}, 'n': {Role: echo.RoleUser, Kind: echo.KindNotice},
		's': {Role: echo.RoleUser, Kind: echo.KindAudible}, 'x': {Role: echo.RoleUser, Kind: echo.KindRetract}, 'y': {Role: echo.RoleUser, Kind: echo.KindRetry},
	}
	for history, want := range map[string]string{ // | begins the next attempt
		"ta":            "ta",
		"tax":           "tx",
		"tarrx":         "tx",
		"tarnx":         "tx",
		"taarx":         "tax",
		"tarxx":         "txx",
		"taarxx":        "taxx",
		"tasx":          "tsx",
		"tarsax":        "tarsx",
		"tarxax":        "txx",
		"tx":            "tx",
		"ta|yx":         "tayx",
		"ta|yarx":       "tayx",
		"tax|yaxar":     "txyxar",
		"tarsxa":        "tsxa",
		"taxarxsa|ya":   "txxsaya",
		"tarr|yarrxarr": "tarryxarr",
	} {
		var items []echo.Item
		var names []rune
		attempt := 1
		for _, c := range history {
			if c == '|' {
				attempt++
				continue
			}
			d := kinds[c]
			d.Parts = echo.Text(string(c))
			items = append(items, echo.Item{Message: echo.Seal(d), Attempt: attempt})
			names = append(names, c)
		}
		gone := echo.Retracted(items)
		standing := ""
		for i, c := range names {
			if gone == nil || !gone[i] {
				standing += string(c)
			}
		}
		require.Equal(t, want, standing, history)
		require.Len(t, echo.Present(items), len(want), history)
	}
}
