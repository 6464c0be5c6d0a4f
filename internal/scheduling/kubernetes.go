package scheduling

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/cascade/triggers"
)

// cronJob writes a CronJob. Every text in it is a JSON string, which YAML reads as it is.
func cronJob(b *strings.Builder, s *Source, t *triggers.Trigger, _ *triggers.Times) {
	n := name(s, t)
	fmt.Fprintf(b, `---
# %s
apiVersion: batch/v1
kind: CronJob
metadata:
  name: %s
spec:
  schedule: %s
  timeZone: %s
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: windlass
              image: %s
              command: [%s]
              args: %s
`, title(s, t), quoted(n), quoted(strings.Join(strings.Fields(t.Schedule), " ")), quoted(t.Zone()), quoted(s.Image), quoted(s.Program), list(s.arguments(t)))
}

// list writes words as arguments of a container, where $( begins a variable unless the dollar sign is doubled.
func list(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quoted(strings.ReplaceAll(w, "$(", "$$("))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// quoted writes a text as JSON, whose line separators are escaped.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil { // a text has a JSON
		panic(err)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}
