package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/snapshot"
	"github.com/windlass-run/windlass/internal/tool"
)

// testsDir is where tests are unless another folder is named.
const testsDir = "tests"

func newTestCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "test",
		Short:   "Make regression tests of recorded runs, and run them without a model",
		Example: "  windlass test freeze 01jz4k --name refund\n  windlass test run",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError(errors.New("windlass test needs freeze or run"), "windlass test run")
		},
	}
	cmd.AddCommand(newTestFreezeCommand(a), newTestRunCommand(a))
	return cmd
}

// readAspects reads what a test is to compare.
func readAspects(given []string) ([]snapshot.Aspect, error) {
	if len(given) == 0 {
		return snapshot.Usual(), nil
	}
	chosen := map[snapshot.Aspect]bool{}
	for _, name := range given {
		a := snapshot.Aspect(strings.TrimSpace(name))
		if !slices.Contains(snapshot.Aspects(), a) {
			return nil, usageError(fmt.Errorf("--match %q: there is no such aspect", name), "--match "+strings.ReplaceAll(snapshot.Joined(snapshot.Aspects()), ", ", ","))
		}
		chosen[a] = true
	}
	return slices.DeleteFunc(snapshot.Aspects(), func(a snapshot.Aspect) bool { return !chosen[a] }), nil
}

// testRunner returns what a cascade is run with in a test. Models and tools are there to be described only; nothing of the
// machine counts: neither its configuration, nor its variables, nor what keys it has.
func testRunner(c *cascade.Cascade, models []string, env map[string]string) (engine.Runner, func() error, error) {
	r := engine.Runner{DefaultModel: c.Model, PhaseModels: map[string]string{}}
	for _, m := range models {
		if phase, model, one := strings.Cut(m, "="); one {
			r.PhaseModels[phase] = model
		} else {
			r.DefaultModel = m
		}
	}
	r.Facts = llm.NewRouter(&config.Config{}, func(string) string { return "" }).Facts
	tools, err := tool.New(tool.Options{
		Roots: []string{os.TempDir()}, Declared: c.Tools, AllowEnv: sortedNames(env),
		Getenv: func(name string) (string, bool) {
			v, ok := env[name]
			return v, ok
		},
	})
	if err != nil {
		return r, nil, err
	}
	r.Tools = tools
	return r, tools.Close, nil
}
