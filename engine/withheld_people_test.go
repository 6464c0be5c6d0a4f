package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// TestWithheldPeople: what a person has answered is in no text and in no answer of get_state when the message with the answer is out.
// What another person has answered is, also where it is the same.
func TestWithheldPeople(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"a","instructions":"A.","human_input":{"prompt":"Why?"}},{"name":"z","instructions":"Z.","human_input":{"prompt":"Why?"}},
		{"name":"b","instructions":"B {{ state.human_a }}."},{"name":"c","instructions":"C {{ state.human_a }} {{ state.human_z }}.","tackle":["get_state"]}]}`
	for answer, z := range map[string]string{"yes": "yes", "the secret of a person": "[dropped]"} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			b, l := changing(t, say("one"), say("two"), say("three"), call("get_state", `{"key":"human_a"}`), say("end"))
			mail := &letters{}
			b.runner.Mailbox = mail
			_, err := b.run(source, nil)
			require.ErrorContains(t, err, "waits for an answer")
			mail.leave("a/wait", answer, "")
			_, err = b.goesOn(source)
			require.ErrorContains(t, err, "waits for an answer")
			l.add(echo.ViewDrop, b.spotOf("A person was asked: Why?\nThe answer: "+answer))
			mail.leave("z/wait", answer, "")
			_, err = b.goesOn(source)
			require.NoError(t, err)
			require.Equal(t, "B [dropped].", b.lastSent("b"))
			require.Equal(t, "C [dropped] "+z+".", b.lastSent("c"))
			_, all := questionOf(b.model.requests[len(b.model.requests)-1])
			require.Contains(t, all, "[dropped]")
			require.False(t, strings.Contains(strings.ReplaceAll(all, "C [dropped] yes.", ""), answer), all)
		})
	}
}
