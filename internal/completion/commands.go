package completion

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/scaffold"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/live"
	"github.com/windlass-run/windlass/internal/term/models"
)

// completer returns what may stand in the place of a word that is being written.
type completer = cobra.CompletionFunc

// wordCompleters complete the arguments of commands, by the paths of these.
var wordCompleters = map[string]completer{
	"run":              onlyFirst(cascadeFiles),
	"validate":         cascadeFiles,
	"graph":            onlyFirst(cascadeFiles),
	"init":             onlyFirst(folders),
	"models":           onlyFirst(modelNames),
	"show":             onlyFirst(sessionNames),
	"diff":             onlyTwo(sessionNames),
	"resume":           onlyFirst(sessionNames),
	"verify":           onlyFirst(sessionNames),
	"waiting":          onlyFirst(sessionNames),
	"audible":          onlyFirst(sessionNames),
	"artifacts":        onlyFirst(sessionNames),
	"export":           onlyFirst(sessionNames),
	"replay":           onlyFirst(sessionNames),
	"sessions show":    onlyFirst(sessionNames),
	"sessions handoff": onlyFirst(sessionNames),
	"sessions delete":  sessionIDsOnly,
	"sessions redact":  onlyFirst(sessionIDsOnly),
	"ship":             sessionNames,
	"simulate":         sessionsOrFiles,
	"context show":     onlyFirst(sessionNames),
	"context diff":     onlyFirst(sessionNames),
	"context why":      onlyFirst(sessionNames),
	"soundings":        sessionAndPhase,
	"context stats":    onlyFirst(sessionNames),
	"context select":   onlyFirst(sessionNames),
	"context groups":   onlyFirst(sessionNames),
	"context drop":     onlyFirst(sessionNames),
	"context remove":   onlyFirst(sessionNames),
	"context undo":     onlyFirst(sessionNames),
	"context rebuild":  onlyFirst(sessionNames),
	"context restore":  onlyFirst(sessionNames),
	"test freeze":      onlyFirst(sessionNames),
	"memory show":      bankAndFile,
	"memory history":   bankAndFile,
	"memory edit":      bankAndFile,
	"memory forget":    bankAndFile,
	"memory export":    onlyFirst(bankNames),
	"memory import":    bankAndExport,
	"memos show":       onlyFirst(memoIDs),
	"memos history":    onlyFirst(memoIDs),
	"memos edit":       onlyFirst(memoIDs),
	"memos delete":     onlyFirst(memoIDs),
	"memos forget":     onlyFirst(memoIDs),
	"memos import":     exports,
}

// flagCompleters complete the values of flags, by the paths of commands and the names of the flags.
var flagCompleters = map[string]completer{
	"run --model":               phaseModels,
	"run --input":               inputNames,
	"run --input-file":          cascadeFiles,
	"run --root":                folders,
	"graph --format":            oneOf("mermaid", "svg", "text"),
	"init --model":              modelNames,
	"init --template":           oneOf(scaffold.Names()...),
	"run --progress":            oneOf(live.Modes()...),
	"answer --progress":         oneOf(live.Modes()...),
	"resume --progress":         oneOf(live.Modes()...),
	"replay --progress":         oneOf(live.ReplayModes()...),
	"resume --fork":             sessionPhases,
	"resume --cascade":          cascadeFiles,
	"context show --phase":      sessionPhases,
	"context select --phase":    sessionPhases,
	"context select --model":    modelNames,
	"context select --strategy": oneOf(cards.Strategies()...),
	"diff --phase":              sessionPhases,
	"cost --by":                 oneOf(clickhouse.CostBys()...),
	"cost --session":            sessionNames,
	"signal --session":          sessionNames,
	"memory forget --session":   sessionNames,
	"sessions list --by":        oneOf("tag"),
	"test freeze --cascade":     cascadeFiles,
	"test freeze --dir":         folders,
	"serve --root":              folders,
	"ui --root":                 folders,
}

// Names lists the commands and flags that Add gives a completion, such as "run" and "run --model".
func Names() []string {
	return append(slices.Sorted(maps.Keys(wordCompleters)), slices.Sorted(maps.Keys(flagCompleters))...)
}

// Add gives the command of a program and all below it what completes their arguments and flags.
func Add(root *cobra.Command) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		if c := wordCompleters[path]; c != nil {
			cmd.ValidArgsFunction = c
		} else if cmd.ValidArgsFunction == nil && cmd != root {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for name, c := range flagCompleters {
			if flag, ok := strings.CutPrefix(name, path+" --"); ok {
				_ = cmd.RegisterFlagCompletionFunc(flag, c) // fails for unknown flags only, and a test looks for these
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
}

// onlyFirst completes the first argument of a command, and no other.
func onlyFirst(c completer) completer { return onlySome(1, c) }

// onlyTwo completes the first two arguments of a command, and no other.
func onlyTwo(c completer) completer { return onlySome(2, c) }

func onlySome(n int, c completer) completer {
	return func(cmd *cobra.Command, args []string, written string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c(cmd, args, written)
	}
}

// sessionAndPhase completes a session, and then a phase of it.
func sessionAndPhase(cmd *cobra.Command, args []string, written string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return sessionNames(cmd, args, written)
	case 1:
		return sessionPhases(cmd, args, written)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func oneOf[T ~string](list ...T) completer {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = string(t)
	}
	return cobra.FixedCompletions(texts, cobra.ShellCompDirectiveNoFileComp)
}

func cascadeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"json", "yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func sessionNames(_ *cobra.Command, given []string, written string) ([]string, cobra.ShellCompDirective) {
	return completeSessions(given, written, names.Everything), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func sessionIDsOnly(_ *cobra.Command, given []string, written string) ([]string, cobra.ShellCompDirective) {
	return completeSessions(given, written, names.IDs), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// sessionsOrFiles completes sessions, and files where no session fits.
func sessionsOrFiles(_ *cobra.Command, given []string, written string) ([]string, cobra.ShellCompDirective) {
	found := completeSessions(given, written, names.Everything)
	if written != "" && len(found) == 0 {
		return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return found, cobra.ShellCompDirectiveDefault | cobra.ShellCompDirectiveKeepOrder
}

func completeSessions(given []string, written string, scope names.Scope) []string {
	home, err := config.Home()
	if err != nil {
		return nil
	}
	return Sessions(home, given, written, scope)
}

// inputNames completes the names of the inputs of the cascade on the line.
func inputNames(cmd *cobra.Command, args []string, written string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	if len(args) == 0 || args[0] == app.Stdin {
		return nil, directive
	}
	c, _, err := app.LoadCascade(cmd.Context(), args[0], nil)
	if err != nil || c == nil || c.InputsSchema == nil {
		return nil, directive
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.InputsSchema.Names)) {
		if word := term.Cell(name) + "="; strings.HasPrefix(word, written) {
			list = append(list, cobra.CompletionWithDesc(word, term.OneLine(c.InputsSchema.Names[name])))
		}
	}
	return list, directive
}

// sessionPhases completes the phases of the session that is the first argument.
func sessionPhases(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	home, err := config.Home()
	if err != nil || len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	phases := phasesOf(home, args[0])
	if phases == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return phases, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// phaseModels completes a model, or a phase of the cascade with a model.
func phaseModels(cmd *cobra.Command, args []string, written string) ([]string, cobra.ShellCompDirective) {
	models, directive := modelNames(cmd, args, written)
	if strings.Contains(written, "=") || len(args) == 0 || args[0] == app.Stdin {
		return models, directive
	}
	c, _, err := app.LoadCascade(cmd.Context(), args[0], nil)
	if err != nil || c == nil {
		return models, directive
	}
	for p := range c.EachPhase() {
		if name := p.Name + "="; strings.HasPrefix(name, written) {
			models = append(models, cobra.CompletionWithDesc(term.Cell(name), fmt.Sprintf("a model for the phase %s", term.Cell(p.Name))))
		}
	}
	return models, directive | cobra.ShellCompDirectiveNoSpace
}

// modelNames completes a model, also behind PHASE=.
func modelNames(_ *cobra.Command, _ []string, written string) ([]string, cobra.ShellCompDirective) {
	cfg := &config.Config{}
	if home, err := config.Home(); err == nil {
		if opened, err := config.Open(".", home); err == nil {
			cfg = opened
		}
	}
	phase := written[:strings.LastIndexByte(written, '=')+1]
	var list []string
	for _, m := range models.Known(cfg) {
		if name := phase + term.Cell(m.Name); strings.HasPrefix(name, written) {
			list = append(list, name)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}
