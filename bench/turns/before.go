package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// buildBefore builds this benchmark as it was at a revision of the repository, below dir, and returns the program.
func buildBefore(ctx context.Context, revision, dir string) (string, error) {
	src := filepath.Join(dir, "before")
	if err := os.Mkdir(src, 0o700); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "bench-before")
	for _, step := range []struct {
		dir  string
		args []string
	}{
		{".", []string{"git", "-C", "..", "archive", "--format=tar", "--output=" + src + ".tar", "--end-of-options", revision}},
		{src, []string{"tar", "-xf", src + ".tar"}},
		{filepath.Join(src, "bench"), []string{"go", "build", "-o", program, "./turns"}},
	} {
		cmd := exec.CommandContext(ctx, step.args[0], step.args[1:]...)
		cmd.Dir = step.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build the benchmark of %s: %s: %w\n%s", revision, step.args[0], err, out)
		}
	}
	return program, nil
}
