// Package protection says which files no tool writes without a grant: those that windlass would
// run, and those that programs run by convention.
//
// Files that are not in the table can be written. It holds what runs although nobody asked for a
// project's code to be run: when a folder is entered or opened, a version control system is asked
// for its state, somebody commits, logs in, or starts a shell, a debugger or an interpreter. What
// runs because somebody builds, tests or starts the project is not in it.
//
// Names are compared as the most generous file system would: without regard to case, and under the
// other names that Windows and macOS have for a file. Grants are compared exactly.
package protection

// Row is one row of the table.
type Row struct {
	Names []string // patterns; see [New]. A folder is protected with everything in it
	Other string   // in place of Names: what the files are, where names do not tell them
	By    string   // who runs them, with a verb: "git runs"
	What  string   // what of them is run
}

// Cascades and bare repositories are told by what is in them.
var (
	cascades = Row{
		Other: "a JSON or YAML file with a `cascade_id`, as it is or as it would become",
		By:    "windlass runs", What: "the tools and validators that a cascade declares",
	}
	bareRepositories = Row{
		Other: "a folder that holds `HEAD`, `objects` and `refs`, or `HEAD` and `commondir`, as it is or as it would become",
		By:    "git runs", What: "hooks and programs that a repository's configuration names",
	}
)

// Table returns what is protected whatever windlass.json says.
func Table() []Row {
	return []Row{
		{Names: []string{"windlass.json"}, By: "windlass runs", What: "the commands that it trusts, and sends keys to the endpoints that it names"},
		{Names: []string{"*.tool.json", "*.tool.yaml", "*.tool.yml"}, By: "windlass runs", What: "the command or request of a tool"},
		cascades,
		{Names: []string{".git"}, By: "git runs", What: "hooks and programs that a repository's configuration names"},
		bareRepositories,
		{Names: []string{".gitconfig", ".config/git"}, By: "git runs", What: "programs that a person's configuration names"},
		{
			Names: []string{
				".githooks", ".git-hooks", ".husky", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "prek.toml", ".overcommit.yml",
				"lefthook*.y*ml", "lefthook*.toml", "lefthook*.json", ".lefthook*",
			},
			By: "git runs", What: "hooks that are kept with the sources, by itself or through husky, pre-commit, overcommit or lefthook",
		},
		{
			Names: []string{".hg", ".hgrc", ".config/hg", ".jj", ".config/jj", ".sl"},
			By:    "Mercurial, Jujutsu and Sapling run", What: "hooks, extensions and aliases",
		},
		{
			Names: []string{
				".envrc", ".direnv", ".direnvrc", ".config/direnv", ".autoenv", ".autoenv.zsh", ".rvmrc", ".tool-versions",
				".mise", ".mise*.toml", "mise.toml", "mise.*.toml", "mise/config.toml", ".config/mise", ".config/mise*.toml", ".rtx*.toml",
			},
			By: "direnv, mise, asdf, rvm and autoenv run", What: "it when a folder is entered",
		},
		{
			Names: []string{
				".vscode", "*.code-workspace", ".devcontainer", ".devcontainer.json", ".vs", ".idea", ".zed", ".config/zed", ".helix", ".config/helix",
				".vimrc", "_vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".vim", ".config/nvim",
				".emacs", ".emacs.d", ".config/emacs", ".dir-locals.el", ".dir-locals-2.el",
			},
			By: "editors run", What: "tasks, extensions and language servers when a folder or a file is opened",
		},
		{
			Names: []string{
				".mcp.json", ".claude", ".claude.json", ".codex", ".cursor", ".gemini", ".github/hooks", ".windsurf", ".kiro", ".roo", ".continue", ".amazonq",
				".opencode", "opencode.json", "opencode.jsonc", ".config/opencode", "crush.json", ".crush.json", ".config/crush", ".aider.conf.yml",
			},
			By: "coding assistants run", What: "hooks, commands and MCP servers",
		},
		{
			Names: []string{
				".profile", ".bashrc", ".bashrc.d", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_completion", ".inputrc",
				".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".zshrc.d", ".oh-my-zsh", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout",
				".config/fish", ".config/nushell", ".config/xonsh", ".xonshrc", ".config/powershell", "profile.ps1", "*_profile.ps1",
			},
			By: "shells run", What: "it when they start or end",
		},
		{Names: []string{".ssh"}, By: "ssh and its server run", What: "commands of a configuration and of keys that may log in"},
		{
			Names: []string{".gnupg", ".aws/config", ".aws/credentials", ".kube/config", ".docker/config.json", ".docker/cli-plugins"},
			By:    "gpg, aws, kubectl and docker run", What: "programs that ask for or give out credentials",
		},
		{
			Names: []string{
				".xinitrc", ".xsession", ".xsessionrc", ".xprofile", ".pam_environment", ".local/bin",
				".config/autostart", ".config/systemd", ".config/environment.d", ".config/plasma-workspace", ".config/i3", ".config/sway", ".config/hypr",
				".local/share/systemd", ".local/share/applications", ".local/share/dbus-1", "Library/LaunchAgents", "Library/LaunchDaemons",
				"Start Menu/Programs/Startup",
			},
			By: "the desktop and the system run", What: "it at a login, or by its name",
		},
		{
			Names: []string{
				".Rprofile", ".gdbinit", ".lldbinit", ".pdbrc", ".ghci", ".octaverc", ".irbrc", ".pryrc", ".psqlrc", ".sqliterc", ".ipython",
				".julia/config", ".tmux.conf", ".config/tmux", ".screenrc", ".mailcap",
			},
			By: "interpreters, debuggers and terminals run", What: "it when they start, some in any folder",
		},
		{
			Names: []string{
				"/etc/cron*", "/etc/crontab", "/var/spool/cron", "/etc/profile", "/etc/profile.d", "/etc/bash*", "/etc/zsh*",
				"/etc/systemd", "/etc/init.d", "/etc/ld.so.preload", "/etc/sudoers", "/etc/sudoers.d",
			},
			By: "cron, shells and the system run", What: "it for every user",
		},
	}
}
