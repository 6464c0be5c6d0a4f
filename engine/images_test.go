package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// hasImages gives the tools of a bundle the one that reads images. It counts how often it does.
func (b *testBundle) hasImages(width int) (data []byte, read *int) {
	b.t.Helper()
	var x bytes.Buffer
	require.NoError(b.t, png.Encode(&x, image.NewGray(image.Rect(0, 0, width, 2))))
	read = new(int)
	b.tools.add(effect.ImagesTool, `{}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		*read++
		var in struct{ Paths []string }
		if err := json.Unmarshal(req.Arguments, &in); err != nil {
			return effect.ToolResult{}, err
		}
		parts := echo.Text("read")
		for _, p := range in.Paths {
			switch p {
			case "none.png":
				return effect.ToolResult{Failed: true, Kind: "not_found", Parts: echo.Text("read none.png: there is no such file")}, nil
			case "other.png":
				parts = append(parts, echo.Part{Type: echo.PartImage, URL: "data:text/html;base64,PGI+"})
			case "less.png":
			default:
				parts = append(parts, echo.Part{Type: echo.PartImage, URL: echo.DataURL("image/png", x.Bytes())})
			}
		}
		return effect.ToolResult{Parts: parts}, nil
	})
	return x.Bytes(), read
}

const sourceOfImages = `{"cascade_id":"c","phases":[
	{"name":"ask","instructions":"Ask.","tackle":["ask_human_custom"],"handoffs":["again"]},
	{"name":"again","tool":"ask_human_custom","inputs":{"question":"And this?","images":["b.png"],"ui_hint":"confirmation"},"handoffs":["end"]},
	{"name":"end","instructions":"{{ outputs.ask }} {{ outputs.again }}"}]}`

// The images of a question are read once, when it is asked: what goes on from the record has them from there. A question
// says of them what they are, and has no bytes.
func TestImagesOfQuestions(t *testing.T) {
	t.Parallel()
	b := setup(t, call("ask_human_custom", `{"question":"Which?","options":["x","y"],"images":["plots/a.png","b.png"]}`), say("x it is"), say("end"))
	data, read := b.hasImages(3)
	l := &letters{}
	b.runner.Mailbox = l
	_, err := b.run(sourceOfImages, nil)
	require.ErrorContains(t, err, "waits for an answer")
	require.Equal(t, 1, *read)
	asked := b.waits()[0].Form
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	require.Equal(t, []echo.Image{
		{Name: "plots/a.png", Type: "image/png", Bytes: int64(len(data)), SHA256: sum, Width: 3, Height: 2},
		{Name: "b.png", Type: "image/png", Bytes: int64(len(data)), SHA256: sum, Width: 3, Height: 2},
	}, asked.Images)
	e := b.entries.of(echo.NodeWait)[0]
	require.NotContains(t, string(e.Data), "base64")
	require.Equal(t, echo.ImagesKey(e.Key), b.entries.of(echo.NodeToolCall)[0].Key)

	b.tools.fns[effect.ImagesTool] = func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{}, errors.New("the files are read again")
	}
	l.leave("ask/attempt1/turn1/tool1/wait", "x", "")
	_, err = b.goesOn(sourceOfImages)
	require.ErrorContains(t, err, "ask without images", "only the second question reads its own")
	require.Equal(t, "x", b.model.requests[1].Messages[2].Text())
}

// A phase that asks fails of an image that is not there, as of any failed tool, and asks when it is resumed and it is.
func TestImagesOfAPhase(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"ask","tool":"ask_human_custom","inputs":{"question":"Well?","images":["IMAGE"],"ui_hint":"confirmation"},"handoffs":["end"]},
		{"name":"end","instructions":"{{ outputs.ask }}"}]}`
	b := setup(t, say("end"))
	_, read := b.hasImages(3)
	l := &letters{}
	b.runner.Mailbox = l
	missing := strings.ReplaceAll(source, "IMAGE", "none.png")
	_, err := b.run(missing, nil)
	require.EqualError(t, err, "c/ask (attempt 1): tool ask_human_custom failed: Nobody was asked: read none.png: there is no such file")
	require.Empty(t, b.waits())

	there := b.tools.fns[effect.ImagesTool]
	b.tools.fns[effect.ImagesTool] = func(ctx context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		req.Arguments = json.RawMessage(`{"paths":["a.png"]}`)
		return there(ctx, req)
	}
	_, err = b.goesOn(missing)
	require.ErrorContains(t, err, "waits for an answer")
	require.Len(t, b.waits(), 1)
	require.Equal(t, 2, *read)
	l.leave("ask/attempt1/tool/wait", true, "")
	res, err := b.goesOn(missing)
	require.NoError(t, err)
	require.Equal(t, "end", res.Output)
	require.Equal(t, 2, *read)
}

// A model is told why its images are not shown, and nobody is asked.
func TestImagesThatAreNotShown(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"question":"q","images":["a.png","none.png"]}`:                  "Nobody was asked: read none.png: there is no such file",
		`{"question":"q","images":["other.png"]}`:                         "What reads the images has returned something else.",
		`{"question":"q","images":["a.png","less.png"]}`:                  "What reads the images has returned 1 for 2 paths.",
		`{"question":"q","images":[]}`:                                    "minItems",
		`{"question":"q","images":[""]}`:                                  "minLength",
		`{"question":"q","images":"a.png"}`:                               "/images",
		`{"question":"q","images":[7]}`:                                   "/images/0",
		`{"question":"q","images":["1","2","3","4","5","6","7","8","9"]}`: "/images",
		`{"question":"q","images":["a.png"],"ui_hint":"choice"}`:          "A choice needs options.",
	} {
		b := setup(t, call("ask_human_custom", args), say("done"))
		b.hasImages(1)
		_, err := b.run(`{"cascade_id":"c","phases":[{"name":"ask","instructions":"Ask.","tackle":["ask_human_custom"]}]}`, nil)
		require.NoError(t, err, args)
		result := b.model.requests[1].Messages[2]
		require.True(t, result.Failed(), args)
		require.Contains(t, result.Text(), want, args)
		require.Empty(t, b.waits(), args)
	}
	for _, without := range []func(b *testBundle){
		func(b *testBundle) { b.runner.Tools = nil },
		func(*testBundle) {},
	} {
		b := setup(t, call("ask_human_custom", `{"question":"q","images":["a.png"]}`), say("done"))
		without(b)
		c := &cascade.Cascade{}
		require.NoError(t, json.Unmarshal([]byte(`{"cascade_id":"c","phases":[{"name":"ask","instructions":"Ask.","tackle":["ask_human_custom"]}]}`), c))
		_, err := b.runner.Run(context.Background(), Spec{Cascade: c, Log: echo.NewLog("s1", nil, nil, b.entries), WorkDir: "/scratch"})
		require.NoError(t, err)
		require.Equal(t, "Nobody was asked: the program that runs this work reads no files; ask without images", b.model.requests[1].Messages[2].Text())
	}
}

// Images go with the question that shows them when its call is redacted, and alone when they are; the record still holds,
// and what is asked can still be answered.
func TestRedactedImages(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"ask","instructions":"Ask.","tackle":["ask_human_custom"]}]}`
	for name, of := range map[string]func(b *testBundle) echo.Hash{
		"with the question": func(b *testBundle) echo.Hash { return b.entries.of(echo.NodeModelCall)[0].ContentHash },
		"alone":             func(b *testBundle) echo.Hash { return b.entries.of(echo.NodeToolCall)[0].ContentHash },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, call("ask_human_custom", `{"question":"Which of them?","images":["plots/secret.png"]}`), say("done"))
			b.hasImages(5)
			l := &letters{}
			b.runner.Mailbox = l
			_, err := b.run(source, nil)
			require.ErrorContains(t, err, "waits for an answer")
			entries, x := b.redacts(source, of(b))
			for _, e := range entries {
				text, err := e.AppendJSON(nil)
				require.NoError(t, err)
				require.NotContains(t, string(text), "data:image/", e.Key)
				if name == "with the question" {
					require.NotContains(t, string(text), "plots/secret.png", e.Key)
				}
			}
			b.entries = &inMemory{list: entries}
			require.Len(t, b.waits()[0].Form.Images, 1, "that there was one stays")
			l.leave("ask/attempt1/turn1/tool1/wait", "so", "")
			c := &cascade.Cascade{}
			require.NoError(t, json.Unmarshal([]byte(source), c))
			res, err := b.runner.Run(context.Background(), Spec{
				Cascade: c, Log: echo.ContinueLog("s1", uint64(len(entries)), nil, nil, b.entries), WorkDir: "/scratch", Recording: entries, Redacted: x,
			})
			require.NoError(t, err)
			require.Equal(t, "done", res.Output)
		})
	}
}
