package commandline

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// wordsOfPackage is where cobra's script takes the words of the line from the package bash-completion.
const wordsOfPackage = `    _get_comp_words_by_ref "$@" cur prev words cword
`

// wordsOfLine takes them from bash itself where that package is not loaded: bash splits words at = and :
// as well, and what has no space between it is one word again.
const wordsOfLine = `    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local i word rest="${COMP_LINE}"
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        if [[ ${#words[@]} -gt 0 && ${rest} != [[:space:]]* ]]; then
            words[${#words[@]}-1]+="${word}"
        else
            words+=("${word}")
        fi
        rest="${rest#"${rest%%[![:space:]]*}"}"
        rest="${rest#"${word}"}"
    done
    cword=$((${#words[@]}-1))
    cur="${words[cword]}"
    prev="${words[cword > 0 ? cword-1 : 0]}"
`

// CompleteBashAlone has the completion for bash work without the package bash-completion.
func CompleteBashAlone(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	exampleCompletion(root)
	cmd, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		return
	}
	cmd.Long = strings.Replace(cmd.Long, "This script depends on the 'bash-completion' package.\nIf it is not installed already, you can install it via your OS's package manager.",
		"With source it needs nothing else. To be loaded for every new session from a folder\nit needs the package bash-completion.", 1)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		short, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		var script bytes.Buffer
		if err := root.GenBashCompletionV2(&script, !short); err != nil {
			return fmt.Errorf("make the script: %w", err)
		}
		_, err = io.WriteString(cmd.OutOrStdout(), strings.Replace(script.String(), wordsOfPackage, wordsOfLine, 1))
		return err
	}
}

// exampleCompletion gives the commands that print completions their examples.
func exampleCompletion(root *cobra.Command) {
	for shell, line := range map[string]string{
		"bash": "source <(%s completion bash)", "zsh": "source <(%s completion zsh)",
		"fish": "%s completion fish | source", "powershell": "%s completion powershell | Out-String | Invoke-Expression",
	} {
		if cmd, _, err := root.Find([]string{"completion", shell}); err == nil {
			cmd.Example = "  " + fmt.Sprintf(line, root.Name())
		}
	}
}
