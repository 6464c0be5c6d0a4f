// Package lab is what tests of the built program need: the program, built once or with a check taken out; a folder and a
// home of its own for each attempt; and the programs that run in it, each with a bound.
package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Edit is a textual change of one source file. Old has to stand there exactly once.
type Edit struct {
	File string // relative to the module
	Old  string
	New  string
}

// Root returns the folder of the main module.
func Root() (string, error) {
	out, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/windlass-run/windlass").Output()
	if err != nil {
		return "", fmt.Errorf("find the module of windlass: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Build builds windlass into the folder dir and returns the program's path. With edits it is a mutant: the edits are laid
// over the sources, which stay as they are.
func Build(dir string, edits ...Edit) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "windlass")
	args := []string{"build", "-ldflags=-s -w", "-o", bin}
	if len(edits) > 0 {
		overlay, err := layOver(root, dir, edits)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(context.Background(), "go", append(args, "./cmd/windlass")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build windlass: %w\n%s", err, out)
	}
	return bin, nil
}

// layOver writes the edited files and the list of them that "go build -overlay" reads.
func layOver(root, dir string, edits []Edit) (string, error) {
	texts := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(root, e.File)
		text, ok := texts[path]
		if !ok {
			data, err := os.ReadFile(path)
			if err != nil {
				return "", fmt.Errorf("read the source to edit: %w", err)
			}
			text = string(data)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return "", fmt.Errorf("edit %s: the text to replace stands there %d times, not once:\n%s", e.File, n, e.Old)
		}
		texts[path] = strings.Replace(text, e.Old, e.New, 1)
	}
	replace := map[string]string{}
	for path, text := range texts {
		edited := filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(edited, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("write the edited source: %w", err)
		}
		replace[path] = edited
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("encode the overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	return path, nil
}
