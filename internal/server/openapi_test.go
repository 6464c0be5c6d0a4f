package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/server/servertest"
)

// TestEveryRouteIsDescribed holds the routes and the description against each other, both ways.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	d := servertest.Read(t, openAPI)
	var described, there []string
	for path, methods := range d.Paths {
		for method, op := range methods {
			described = append(described, strings.ToUpper(method)+" "+path)
			require.NotEmpty(t, op.ID, path)
			require.NotEmpty(t, op.Summary, path)
			for _, p := range op.Parameters {
				require.Equal(t, p.In == "path", strings.Contains(path, "{"+p.Name+"}"), "%s: %s", path, p.Name)
			}
			require.Equal(t, strings.Count(path, "{"), pathParameters(op), path)
		}
	}
	for _, rt := range routes() {
		there = append(there, rt.method+" "+rt.path)
	}
	require.ElementsMatch(t, there, described)
}

func pathParameters(op *servertest.Operation) int {
	n := 0
	for _, p := range op.Parameters {
		if p.In == "path" && p.Required {
			n++
		}
	}
	return n
}

// TestEveryFieldIsDescribed holds what is sent and read against the schemas, both ways.
func TestEveryFieldIsDescribed(t *testing.T) {
	t.Parallel()
	d := servertest.Read(t, openAPI)
	types := map[string]any{
		"RunRequest": RunRequest{}, "ResumeRequest": ResumeRequest{}, "Budget": Budget{}, "Session": Session{}, "SessionList": SessionList{},
		"SessionDetail": SessionDetail{}, "PhaseReport": archive.Phase{}, "Problem": problemBody{}, "Violation": violation{},
		"Diagnostic": cascade.Diagnostic{}, "Entry": echo.Entry{}, "Message": echo.Draft{}, "Redacted": echo.Redacted{}, "Part": echo.Part{}, "ToolCall": echo.ToolCall{},
		"ToolUse": echo.ToolUse{}, "Usage": echo.Usage{}, "Failure": echo.Failure{}, "Selection": echo.Selection{}, "Span": echo.Span{},
		"CallContext": inspect.Shown{}, "ContextCall": inspect.Call{}, "SentForm": inspect.SentForm{}, "FormSum": inspect.FormSum{},
		"Handoff": echo.Handoff{}, "HandoffItem": echo.HandoffItem{}, "HandoffProgress": echo.HandoffProgress{}, "Omitted": echo.Omitted{},
		"Sounding": inspect.Sounding{}, "SoundingStep": inspect.SoundingStep{}, "Candidate": inspect.Candidate{}, "BallotPair": inspect.BallotPair{}, "Judge": inspect.Judge{},
		"Ballot": echo.Ballot{}, "Choice": echo.Choice{}, "Chooser": echo.Chooser{}, "Standing": echo.Standing{}, "Prefix": echo.Prefix{}, "Mutation": echo.Mutation{}, "Verdict": echo.Verdict{},
		"Wait": Wait{}, "Grant": mailbox.Grant{}, "Form": echo.Form{}, "Option": echo.Option{}, "Field": echo.Field{}, "Image": echo.Image{}, "Choose": echo.Choose{}, "Offered": echo.Offered{},
		"AwaitedCall": echo.AwaitedCall{}, "WaitAnswer": echo.Answer{}, "WaitGrant": echo.Granted{}, "AnswerRequest": AnswerRequest{}, "AnsweredWait": AnsweredWait{},
		"SignalRequest": SignalRequest{}, "SentSignal": SentSignal{}, "WhoAnswered": whoAnswered{}, "Workspace": echo.Workspace{}, "FileChange": echo.FileChange{},
	}
	for name, v := range types {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d.SameFields(t, name, v)
		})
	}
}

// TestSchemasAreUsedAndCompile looks for schemas that nothing refers to and for references that
// lead nowhere.
func TestSchemasAreUsedAndCompile(t *testing.T) {
	t.Parallel()
	d := servertest.Read(t, openAPI)
	refs := map[string]bool{}
	for _, m := range regexp.MustCompile(`"\$ref": "#/components/schemas/([A-Za-z]+)"`).FindAllStringSubmatch(string(openAPI), -1) {
		refs[m[1]] = true
		require.Contains(t, d.Components.Schemas, m[1])
	}
	own, err := readDescription()
	require.NoError(t, err)
	for name, raw := range d.Components.Schemas {
		require.True(t, refs[name], "nothing refers to the schema %s", name)
		_, err := own.compile(raw)
		require.NoError(t, err, name)
	}
}

// TestEveryProblemIsDescribed: every kind that clients know has a status, which the description has
// with the form of a problem, and a line in the page for people.
func TestEveryProblemIsDescribed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/serve.md")
	require.NoError(t, err)
	d := servertest.Read(t, openAPI)
	described := map[string]bool{}
	for path, methods := range d.Paths {
		for _, op := range methods {
			for status, r := range op.Responses {
				described[status] = true
				code, err := strconv.Atoi(status)
				require.NoError(t, err)
				require.Equal(t, code >= 400, len(r.Content["application/problem+json"].Schema) > 0, "%s %s", path, status)
			}
		}
	}
	rows := 0
	for kind, f := range kinds {
		if f.as != "" {
			require.NotContains(t, string(page), fmt.Sprintf("| `%s` |", kind), "docs/serve.md")
			continue
		}
		rows++
		if kind != WrongMethod { // it is the answer to what is not described
			require.True(t, described[strconv.Itoa(f.status)], "%s has a status that is not described", kind)
		}
		require.Contains(t, string(page), fmt.Sprintf("| `%s` | %d |", kind, f.status), "docs/serve.md")
	}
	require.Len(t, regexp.MustCompile("(?m)^\\| `[a-z_]+` \\| \\d{3} \\|").FindAllString(string(page), -1), rows)
}

// TestDescriptionIsServed: the file is one JSON value, of the version of OpenAPI whose schemas are
// JSON Schema.
func TestDescriptionIsServed(t *testing.T) {
	t.Parallel()
	var head struct {
		OpenAPI string `json:"openapi"`
		Info    struct{ Title, Version string }
	}
	require.NoError(t, json.Unmarshal(openAPI, &head))
	require.Equal(t, "3.1.0", head.OpenAPI)
	require.Equal(t, "windlass", head.Info.Title)
	b := newBundle(t, Options{})
	a := b.client.Do(t, http.MethodGet, "/api/openapi.json", nil)
	require.Equal(t, http.StatusOK, a.Status)
	require.Equal(t, string(openAPI), string(a.Body))
}
