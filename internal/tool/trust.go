package tool

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// runners are programs that run others, or write files, for some of their arguments.
var runners = []string{
	"awk", "bash", "bun", "busybox", "cargo", "chroot", "cmake", "command", "curl", "dash", "deno", "docker", "doas", "ed", "emacs", "env", "ex", "exec",
	"eval", "fd", "find", "flock", "gawk", "gdb", "git", "go", "gradle", "ionice", "java", "kubectl", "less", "lua", "make", "man", "mawk", "more", "mvn",
	"nice", "node", "nohup", "npm", "npx", "parallel", "perl", "php", "pip", "pnpm", "podman", "psql", "python", "python2", "python3", "rg", "rsync",
	"ruby", "scp", "screen", "script", "sed", "setsid", "sh", "sort", "sqlite3", "ssh", "stdbuf", "strace", "su", "sudo", "tar", "tee", "time", "timeout",
	"tmux", "unzip", "uv", "vi", "vim", "watch", "wget", "xargs", "yarn", "zip", "zsh",
}

// RiskyTrust warns of trusted commands that can run other programs for a model's arguments.
func RiskyTrust(trusted []string) []string {
	var out []string
	for _, t := range trusted {
		words, open := strings.CutSuffix(strings.TrimSpace(t), " *")
		fields := strings.Fields(words)
		if !open || len(fields) == 0 {
			continue
		}
		if program := path.Base(fields[0]); slices.Contains(runners, program) {
			out = append(out, fmt.Sprintf("trusted_commands has %q: %s can run other programs, or write files, for its arguments; "+
				"write the whole command out, without *", t, program))
		}
	}
	return out
}
