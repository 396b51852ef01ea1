# Dalli: `ruby-dalli.rb version`, or
# `ruby-dalli.rb fill MODE TAG 'HOST PORT WEIGHT'...` with a key a line, each stored as `TAG KEY`.

begin
  require 'dalli'
rescue LoadError => e
  warn e.message
  exit 3
end

_, mode, tag, *servers = ARGV
if ARGV == ['version']
  puts Dalli::VERSION
  exit
end

servers = servers.map do |server|
  host, port, weight = server.split
  host = "[#{host}]" if host.include?(':')
  parts = host.start_with?('/') ? [host, weight] : [host, port, weight]
  parts.pop if weight == '1'
  parts.join(':')
end
options = { 'default' => {}, 'namespace' => { namespace: 'app' } }.fetch(mode)

client = Dalli::Client.new(servers, options)
$stdin.set_encoding('UTF-8')
$stdin.each_line(chomp: true) do |key|
  # Without `raw`, what is stored is Ruby's own serialisation; and nginx does not decompress what it finds.
  client.set(key, "#{tag} #{key}", nil, raw: true, compress: false) or abort("not stored: #{key}")
end
