// Package pagetest has a session that waits for each kind of answer.
package pagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/filetype"
)

// Session is the id of the session.
const Session = "ship"

// Named is a wait with the name that tests call it by.
type Named struct {
	Name   string
	Wait   echo.Wait
	Images []Image // that its question shows
}

// Image is a file of an image.
type Image struct {
	Path string
	Data []byte
}

// Began is when the session began.
var Began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ID returns the id of the wait with a name.
func ID(list []Named, name string) string {
	for i, x := range list {
		if x.Name == name {
			return echo.WaitID(Session, keyOf(i))
		}
	}
	panic("no wait " + name)
}

func keyOf(i int) echo.Key {
	return callOf(1, i).Step(echo.StepWait)
}

// callOf returns the key of the call in a turn.
func callOf(attempt, i int) echo.Key {
	return echo.PhaseKey("decide", 1).Attempt(attempt).Turn(i+1).Numbered(echo.StepTool, 1)
}

func artifactKey(i int) echo.Key { return callOf(2, i).Step(echo.StepArtifact) }

// Write makes a session in a home that waits for each of a list, and has artifacts; it began at a time.
func Write(home string, list []Named, artifacts []echo.Artifact, began time.Time) error {
	j, err := journal.Create(config.SessionDir(home, Session), journal.Header{
		SessionID: Session, Rules: 1, StartedAt: began, Cascade: json.RawMessage(`{"cascade_id":"release"}`), Input: json.RawMessage(`{}`),
	})
	if err != nil {
		return err
	}
	var seq uint64
	write := func(e *echo.Entry) error {
		seq++
		e.SessionID, e.Seq, e.At, e.CascadeID, e.Phase = Session, seq, began.Add(time.Duration(seq)*time.Second), "release", "decide"
		e.SetKeyFields()
		return j.Write(e)
	}
	for i, x := range list {
		if len(x.Images) > 0 {
			e, err := showing(&x, keyOf(i))
			if err != nil {
				return err
			}
			if err := write(e); err != nil {
				return err
			}
		}
		if err := write(echo.NewEntry(keyOf(i), x.Wait)); err != nil {
			return err
		}
	}
	for i, a := range artifacts {
		key := artifactKey(i)
		a.ID = echo.ArtifactID(Session, key)
		if err := write(echo.NewEntry(key, a)); err != nil {
			return err
		}
	}
	return j.Close(context.Background())
}

// showing has the question of a wait show its images, and returns the entry that they are recorded in.
func showing(x *Named, wait echo.Key) (*echo.Entry, error) {
	parts := echo.Text("images")
	var paths []string
	for _, file := range x.Images {
		kind, _ := filetype.Of(file.Data)
		parts = append(parts, echo.Part{Type: echo.PartImage, URL: echo.DataURL(kind, file.Data)})
		paths = append(paths, file.Path)
	}
	m := echo.NewToolResult(echo.ToolCall{Name: effect.ImagesTool}, parts, false)
	images, problem := waiting.Images(paths, m)
	if problem != "" {
		return nil, errors.New(problem)
	}
	form := *x.Wait.Form
	form.Images = images
	x.Wait.Form = &form
	return &echo.Entry{NodeType: echo.NodeToolCall, Key: echo.ImagesKey(wait), Message: m, ContentHash: m.Hash(), Tool: &echo.ToolUse{Name: effect.ImagesTool}}, nil
}

// ArtifactID returns the id of an artifact of Write by its index.
func ArtifactID(i int) string {
	return echo.ArtifactID(Session, artifactKey(i))
}

func asked(name string, f echo.Form) Named {
	return Named{Name: name, Wait: echo.Wait{Kind: echo.WaitQuestion, Form: &f, By: echo.AwaitedBy{Tool: waiting.ToolAsk}}}
}

// Approval is a call that waits for approval.
func Approval() Named {
	return Named{Name: "approval", Wait: waiting.Approval(echo.AwaitedCall{
		Tool: "deploy", Arguments: json.RawMessage(`{"regions":["eu","us"],"to":"prod","version":"1.4.0"}`), Cascade: "0123456789abcdef",
		Schema: json.RawMessage(`{"type":"object","required":["to"],"properties":{"to":{"enum":["prod","staging"]},"version":{"type":"string"},"regions":{"type":"array"}}}`),
	})}
}

var options = []echo.Option{
	{ID: "now", Label: "Release now", Description: "Everybody gets it within the hour.", Style: "primary"},
	{ID: "later", Label: "Wait until Monday"},
	{ID: "never", Label: "Drop it", Description: "The branch is deleted.", Style: "danger"},
}

var candidates = []echo.Offered{
	{Label: "A", Text: "Version 1.4 is out.\n\nIt starts twice as fast, and it forgets nothing."},
	{Label: "B", Text: "We have released 1.4. Thanks to all who helped!", Note: "gpt-5-mini, $0.002"},
	{Label: "C", Text: "1.4: faster."},
}

func choose(name string, c echo.Choose) Named {
	c.Candidates = candidates
	return Named{Name: name, Wait: echo.Wait{Kind: echo.WaitChoice, Form: &echo.Form{Kind: echo.FormCandidates, Question: "Which announcement is best?", Choose: &c}}}
}

// Pictures is a question that shows images: one that is wide, and one whose name is hostile.
func Pictures() Named {
	x := asked("images", echo.Form{Kind: echo.FormChoice, Question: "Which chart goes into the report?", Options: []echo.Option{{ID: "load", Label: "Load"}, {ID: "errors", Label: "Errors"}}})
	x.Images = []Image{
		{Path: "plots/load of all regions.png", Data: chart(1600, 400)},
		{Path: "plots/\u202egnp\"><script>alert(1)</script>\r\n.html", Data: chart(320, 200)},
	}
	return x
}

// chart returns a PNG that is not empty.
func chart(width, height int) []byte {
	m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.RGBA{0x28, 0x5a, 0xc8, 0xff}})
	for x := range width {
		for y := height - 1; y > height-height*(20+60*(x*7919/width%11)/10)/100; y-- {
			m.SetColorIndex(x, y, 1)
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, m) // into memory
	return b.Bytes()
}

// All returns a wait of each kind.
func All() []Named {
	return []Named{
		asked("confirmation", echo.Form{Kind: echo.FormConfirmation, Question: "May the release go out today?", Context: "All checks have passed.\nTwo people are on call."}),
		asked("choice", echo.Form{Kind: echo.FormChoice, Question: "When does it go out?", Severity: "critical", Options: options, Custom: true}),
		asked("multi_choice", echo.Form{Kind: echo.FormMultiChoice, Question: "Which regions first?", Options: []echo.Option{{ID: "eu", Label: "Europe"}, {ID: "us", Label: "America"}, {ID: "ap"}}}),
		asked("rating", echo.Form{Kind: echo.FormRating, Question: "How good is this draft?", Most: 5, Data: map[string]any{"words": json.Number("120"), "title": "1.4 is out"}}),
		asked("text", echo.Form{Kind: echo.FormText, Question: "What should the announcement say first?"}),
		asked("form", echo.Form{Kind: echo.FormFields, Question: "The last details", Fields: []echo.Field{
			{Name: "who", Label: "Who signs it", Kind: echo.FormText, Required: true},
			{Name: "when", Label: "When", Kind: echo.FormChoice, Options: options[:2], Required: true},
			{Name: "where", Kind: echo.FormMultiChoice, Options: []echo.Option{{ID: "mail"}, {ID: "blog"}}},
			{Name: "sure", Label: "Tell the press", Kind: echo.FormConfirmation},
			{Name: "tone", Label: "How loud", Kind: echo.FormRating, Most: 3},
		}}),
		asked("review", echo.Form{Kind: echo.FormReview, Question: "Is this announcement right?", Context: "Version 1.4 is out."}),
		choose("candidates", echo.Choose{Mode: echo.ChooseOne, Tie: true, Reject: true}),
		choose("ranking", echo.Choose{Mode: echo.ChooseRank, Reason: true}),
		choose("ratings", echo.Choose{Mode: echo.ChooseRate, Present: "tabbed"}),
		Approval(),
		{Name: "signal", Wait: echo.Wait{Kind: echo.WaitSignal, Signal: "deployed", By: echo.AwaitedBy{Tool: waiting.ToolAwait, Note: "the pipeline sends it"}}},
	}
}
