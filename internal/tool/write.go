package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/engine/effect"
)

const maxWrite = 4 << 20

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Append  bool   `json:"append"`
}

func writeTool(f *folders) tool {
	return tool{
		spec: effect.ToolSpec{
			Name: WriteFile,
			Description: "Write a text file inside the granted folders. The file is replaced as a whole, or made, together with " +
				"the folders it is in; with append the content is added at its end.",
			Parameters: object([]string{"path", "content"},
				property{"path", "string", "the file, relative to the working folder", `"minLength":1`},
				property{"content", "string", "the text to write", ""},
				property{"append", "boolean", "add to the end of the file instead of replacing it", `"default":false`}),
		},
		run: typed(func(_ context.Context, _ *call, a writeArgs) (string, error) { return f.write(a) }),
	}
}

func (f *folders) write(a writeArgs) (text string, err error) {
	p, err := f.find(a.Path)
	if err != nil {
		return "", err
	}
	if len(a.Content) > maxWrite {
		return "", &failure{kindOutputLimit, fmt.Errorf("write %s: the content has more than %d MiB", p.show, maxWrite>>20)}
	}
	writing.Lock()
	defer writing.Unlock()
	t, err := f.target(p)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	verb, err := t.write(f.rules, a.Content, a.Append)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d bytes to %s", verb, len(a.Content), p.show), nil
}
