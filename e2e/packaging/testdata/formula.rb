# Runs a formula with a stand-in for Homebrew: what it downloads on each platform is printed, what it installs goes below a
# prefix, and its test runs there.
#
#   ruby formula.rb FORMULA PLATFORM UNPACKED PREFIX, with a platform such as linux/amd64

require "fileutils"
require "pathname"

FORMULA, PLATFORM, UNPACKED, PREFIX = ARGV
OS, ARCH = PLATFORM.split("/")

# Place is a folder that a formula installs into, and looks into.
class Place < Pathname
  def install(*what)
    FileUtils.mkdir_p(self)
    what.each do |w|
      from, to = w.is_a?(Hash) ? w.first : [w, File.basename(w)]
      FileUtils.cp_r(File.join(UNPACKED, from), File.join(self, to))
    end
  end
end

# Formula is what formulas inherit: the words of Homebrew that they use.
class Formula
  class << self
    attr_reader :got, :testing

    %w[desc homepage license version url sha256].each do |word|
      define_method(word) do |value = nil|
        @got ||= {}
        value ? @got[word] = value : @got[word]
      end
    end
    def on_macos = (yield if OS == "darwin")
    def on_linux = (yield if OS == "linux")
    def on_arm = (yield if ARCH == "arm64")
    def on_intel = (yield if ARCH == "amd64")
    def test(&block) = @testing = block
  end

  { bin: "bin", doc: "share/doc/windlass", bash_completion: "etc/bash_completion.d",
    zsh_completion: "share/zsh/site-functions", fish_completion: "share/fish/vendor_completions.d" }.each do |word, dir|
    define_method(word) { Place.new(File.join(PREFIX, dir)) }
  end
  def version = self.class.version
  def shell_output(command) = `#{command}`.tap { raise "#{command} failed" unless $?.success? }
  def system(*command) = Kernel.system(*command.map(&:to_s), out: File::NULL) || raise("#{command.join(" ")} failed")
  def cd(dir, &block) = Dir.chdir(dir, &block)
  def assert_match(want, got) = got.include?(want) || raise("#{got.inspect} has no #{want.inspect}")
end

load FORMULA
formula = Windlass.new
puts Windlass.got.fetch("url"), Windlass.got.fetch("sha256")
exit unless UNPACKED
formula.install
Dir.mkdir(File.join(PREFIX, "work"))
Dir.chdir(File.join(PREFIX, "work")) { formula.instance_eval(&Windlass.testing) }
