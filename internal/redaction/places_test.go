package redaction_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/redaction"
)

// aCascade has names that are long enough to be found in texts.
const aCascade = `{"cascade_id":"vulnerability_report_2026","inputs_schema":{"topic":"what completed means"},` +
	`"tools":[{"tool_id":"vulnerability_scanner_tool","type":"shell","command":"scan {{ target_of_the_whole_scan }} --key canary-5f2c9e7a11d04b6f",` +
	`"inputs_schema":{"type":"object","properties":{"target_of_the_whole_scan":{"type":"string","description":"canary-5f2c9e7a11d04b6f","default":"canary-5f2c9e7a11d04b6f"}}}}],` +
	`"phases":[{"name":"vulnerability_assessment_phase","tackle":["vulnerability_scanner_tool","read_file"],"instructions":"Use vulnerability_scanner_tool, {{ input.topic }}.",` +
	`"output_schema":{"type":"object","properties":{"vulnerability_assessment_score":{"type":"integer"}},"required":["vulnerability_assessment_score"]}},` +
	`{"name":"b","instructions":"Sum up {{ outputs.vulnerability_assessment_phase.vulnerability_assessment_score }}."}]}`

// TestNamesStay: what is a name stays one, whatever a message says; free text beside it does not.
func TestNamesStay(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"The vulnerability_scanner_tool of vulnerability_assessment_phase gave vulnerability_assessment_score.", "completed", "read_file", "vulnerability_scanner_tool",
		"answered", "message", "phase_end", "string", "shell", "file order", "integer", "vulnerability_report_2026", "canary-5f2c9e7a11d04b6f",
		`{"read_file":"completed","target_of_the_whole_scan":"vulnerability_scanner_tool","a":["canary-5f2c9e7a11d04b6f","tackle"]}`,
	} {
		for _, parts := range []bool{false, true} {
			m := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(said)})
			rec := recording(t, `{"topic":"completed"}`, aCascade,
				&echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("vulnerability_assessment_phase/attempt1/turn1/model"), Message: m, Data: json.RawMessage(`{"model":"m","finish_reason":"stop"}`)},
				&echo.Entry{
					NodeType: echo.NodeToolCall, Key: echo.MustKey("vulnerability_assessment_phase/attempt1/turn1/tool1"), Error: &echo.Failure{Kind: "failed", Message: said},
					Tool: &echo.ToolUse{Name: "vulnerability_scanner_tool", CallID: "c", Arguments: `{"target_of_the_whole_scan":"vulnerability_scanner_tool"}`},
				},
				echo.NewEntry(echo.MustKey("vulnerability_assessment_phase/end"), echo.PhaseEnd{Status: echo.StatusCompleted, Reason: "answered", Output: said}),
				echo.NewEntry(echo.MustKey("vulnerability_assessment_phase/route"), echo.Route{From: "vulnerability_assessment_phase", To: "b", Reason: "file order"}),
				echo.NewEntry(echo.MustKey("run/end"), echo.RunEnd{Status: echo.StatusCompleted, Reason: "answered", Output: said}),
			)
			p, err := redaction.New(rec, m.Hash(), redaction.Options{Parts: parts})
			require.NoError(t, err, said)
			entries, whole := after(t, rec, p)
			require.Contains(t, string(p.Header.Cascade), `"tackle":["vulnerability_scanner_tool","read_file"]`)
			require.Contains(t, string(p.Header.Cascade), `"name":"vulnerability_assessment_phase"`)
			require.Contains(t, string(p.Header.Cascade), `{{ outputs.vulnerability_assessment_phase.vulnerability_assessment_score }}`)
			require.Contains(t, string(p.Header.Cascade), `"type":"object","properties":{"target_of_the_whole_scan":{"type":"string"`)
			require.JSONEq(t, `{"target_of_the_whole_scan":"vulnerability_scanner_tool"}`, entries[2].Tool.Arguments)
			end, err := echo.Read[echo.PhaseEnd](entries[3])
			require.NoError(t, err)
			require.Equal(t, echo.StatusCompleted, end.Status)
			require.NotEqual(t, said, end.Output)
			require.Equal(t, rec.Entries[4].Data, entries[4].Data)
			if strings.Contains(said, secret) {
				require.NotContains(t, whole, secret, "also in the cascade: commands, descriptions and defaults")
			}
		}
	}
}

// TestLibrary: content is taken out of the cascades that a session reaches, and their names stay.
func TestLibrary(t *testing.T) {
	t.Parallel()
	const parent = `{"cascade_id":"c","phases":[{"name":"a","instructions":"x","tackle":["child_with_a_long_name"]}]}`
	m := user("Ask about " + secret + " in the_only_phase_of_it of child_with_a_long_name.")
	rec := recording(t, `{}`, parent, message("a/task", m))
	rec.Header.Library = json.RawMessage(`{"refs":{"child_with_a_long_name":"0123456789abcdef"},"cascades":{"0123456789abcdef":{"file":"child.json","cascade":` +
		`{"cascade_id":"child_with_a_long_name","description":"Asks about ` + secret + `.","phases":[{"name":"the_only_phase_of_it","instructions":"Ask about ` + secret + `."}]}}}}`)
	p, err := redaction.New(rec, m.Hash(), redaction.Options{Parts: true})
	require.NoError(t, err)
	require.NotContains(t, string(p.Header.Library), secret)
	require.Contains(t, string(p.Header.Library), `"cascade_id":"child_with_a_long_name"`)
	require.Contains(t, string(p.Header.Library), `"name":"the_only_phase_of_it"`)
	require.Contains(t, string(p.Header.Library), `{"refs":{"child_with_a_long_name":"0123456789abcdef"}`)
	require.Empty(t, p.Left)
}

// TestShortValues: from 4 characters on a value is found where it stands by itself, in any text and
// as a number; of shorter ones it is said how many there are.
func TestShortValues(t *testing.T) {
	t.Parallel()
	args := `{"password":"p4ss!w0rd","pin":4711,"card":4222222222222222,"two":42,"id":"ab"}`
	m := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{{ID: "c1", Name: "login", Arguments: args}}})
	other := echo.Seal(echo.Draft{Role: echo.RoleAssistant, ToolCalls: []echo.ToolCall{{ID: "c2", Name: "login", Arguments: `{"p":"p4ss!w0rd","n":[4711,47110,4222222222222222]}`}}})
	rec := recording(t, `{"n":4711,"p":"p4ss!w0rd"}`, aCascade,
		&echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("a/attempt1/turn1/model"), Message: m, Data: json.RawMessage(`{}`)},
		message("q/task", user("Log in with p4ss!w0rd (pin 4711, not 47110) and the card 4222222222222222; p4ss%21w0rd, \\np4ss!w0rd, cDRzcyF3MHJk, 42.")),
		&echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("q/attempt1/turn1/model"), Message: other, Data: json.RawMessage(`{}`)},
		echo.NewEntry(echo.MustKey("q/attempt1/turn2/handoff"), echo.Handoff{Task: "pin 4711", Continuation: "p4ss!w0rd"}),
		echo.NewEntry(echo.MustKey("q/end"), echo.PhaseEnd{Status: echo.StatusCompleted, Calls: 4711, Output: map[string]any{"card": json.Number("4222222222222222"), "a": "4711"}}),
	)
	p, err := redaction.New(rec, m.Hash(), redaction.Options{})
	require.NoError(t, err)
	entries, whole := after(t, rec, p)
	for _, value := range []string{"p4ss!w0rd", "4222222222222222", "p4ss%21w0rd", "cDRzcyF3MHJk", "4711 ", `"4711"`, "[4711"} {
		require.NotContains(t, whole, value)
	}
	mark := func(n int) string { return fmt.Sprintf("[redacted %s: %d characters]", m.Hash(), n) }
	require.Equal(t, "Log in with "+mark(9)+" (pin "+mark(4)+", not 47110) and the card "+mark(16)+"; "+mark(9)+", \\n"+mark(9)+", "+mark(9)+", 42.", entries[2].Message.Text())
	require.Equal(t, `{"p":"`+mark(9)+`","n":[0,47110,0]}`, entries[3].Message.ToolCalls()[0].Arguments)
	require.Contains(t, string(entries[5].Data), `"model_calls":4711,"output":{"a":"`+mark(4)+`","card":0}`)
	require.Equal(t, `{"n":0,"p":"`+mark(9)+`"}`, string(p.Header.Input))
	require.Equal(t, 2, p.Short, "42 and ab")
	require.Empty(t, p.Left, "the message itself is no place of what is left")
	require.Equal(t, []uint64{1, 2, 3, 4, 5, 6}, p.Redaction.Entries)
	require.Positive(t, p.Redaction.Numbers)
}

// TestBroken: what could not be read afterwards is not redacted.
func TestBroken(t *testing.T) {
	t.Parallel()
	m := user("https://example.org/secret/place")
	rec := recording(t, `{}`, `{"cascade_id":"c","tools":[{"tool_id":"t","type":"http","url":"https://example.org/secret/place"}],"phases":[{"name":"a","instructions":"x"}]}`, message("a/task", m))
	_, err := redaction.New(rec, m.Hash(), redaction.Options{})
	require.EqualError(t, err, "message "+string(m.Hash())+" is not redacted, and nothing has changed: the cascade of the session could not be read afterwards: "+
		`cascade:1:63: error: the url of tool "t" starts with neither http:// nor https:// [invalid_value]`)

	rec = recording(t, `{}`, `{}`, message("a/task", m), &echo.Entry{NodeType: echo.NodePhaseEnd, Key: echo.MustKey("a/end"), Data: json.RawMessage(`{"status":"paused","output":"x"}`)})
	_, err = redaction.New(rec, m.Hash(), redaction.Options{})
	require.ErrorContains(t, err, "redact entry 3 (a/end): read entry 3 (a/end) as phase_end: there is no status \"paused\"")
}
