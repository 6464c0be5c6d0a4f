package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// buildPrograms builds everything that is measured, and the model, into the folder dir.
func buildPrograms(ctx context.Context, dir string) error {
	for _, name := range []string{"openai-go", "net-http", "windlass", "journaling", "server"} {
		if err := build(ctx, ".", filepath.Join(dir, name), "./turns/"+name); err != nil {
			return err
		}
	}
	return nil
}

// build builds a package of the module in the folder module.
func build(ctx context.Context, module, program, pkg string, flags ...string) error {
	args := append([]string{"build", "-o", program}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// buildBefore builds windlass as it was at a revision of the repository, below dir. A revision whose benchmark is older than
// these programs gets the loop of today; one from before the commit log gets it with a journal for each session alone.
func buildBefore(ctx context.Context, repository, revision, dir string) (peer, error) {
	source := filepath.Join(dir, "source")
	if err := checkOut(ctx, repository, revision, source); err != nil {
		return peer{}, err
	}
	p := peer{
		name: nameBefore, program: filepath.Join(dir, "loop"),
		home: filepath.Join(dir, "home"), command: filepath.Join(dir, "command"),
	}
	err := buildLoop(ctx, source, p.program)
	if err == nil {
		err = build(ctx, source, p.command, "./cmd/windlass")
	}
	if err != nil {
		return p, fmt.Errorf("the windlass of %s cannot take part: %w", revision, err)
	}
	return p, nil
}

// buildLoop builds the loop of windlass as the repository in the folder source has it.
func buildLoop(ctx context.Context, source, program string) error {
	const loop = "./turns/windlass"
	module := filepath.Join(source, "bench")
	if _, err := os.Stat(filepath.Join(module, loop)); err == nil {
		return build(ctx, module, program, loop)
	}
	if _, err := os.Stat(filepath.Join(source, "internal", "database")); err != nil {
		return errors.New("it has no internal/database, through which the loop of today opens ClickHouse")
	}
	if err := graft(module); err != nil {
		return err
	}
	var errs []error
	for _, tags := range []string{"", "journals_alone"} {
		err := build(ctx, module, program, loop, "-tags", tags)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("the loop of today does not build with it: %w", errors.Join(errs...))
}

// checkOut writes the files of a revision below dir.
func checkOut(ctx context.Context, repository, revision, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	archive := dir + ".tar"
	for _, args := range [][]string{
		{"git", "-C", repository, "archive", "--format=tar", "--output=" + archive, "--end-of-options", revision},
		{"tar", "-xf", archive, "-C", dir},
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("check out %s: %s: %w\n%s", revision, args[0], err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// graft copies the loop of today into the module with the benchmarks of another revision.
func graft(module string) error {
	for _, name := range []string{"loop", "product", "windlass"} {
		from := filepath.Join("turns", name)
		if err := os.CopyFS(filepath.Join(module, from), os.DirFS(from)); err != nil {
			return fmt.Errorf("copy the loop of today: %w", err)
		}
	}
	return nil
}

// startProgram starts a program that ends with its standard input, and returns the first line that it prints.
func (b *bench) startProgram(ctx context.Context, program string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	b.stop = append(b.stop, func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // it has been of use; how it ends is of none
	})
	var line string
	if _, err := fmt.Fscanln(out, &line); err != nil {
		return "", fmt.Errorf("start %s: %w", filepath.Base(program), err)
	}
	return line, nil
}

// keepOpen keeps the database of a peer open, so that no measured process starts the engine.
func (b *bench) keepOpen(ctx context.Context, p peer) error {
	if p.home == "" {
		return nil
	}
	_, err := b.startProgram(ctx, p.program, []string{"WINDLASS_HOME=" + p.home, "WINDLASS_ENGINE_IDLE=" + engineIdle.String()}, "keep")
	return err
}
