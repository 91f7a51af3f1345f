/// How much a client may ask of the server, and how long it may take.
struct HTTPLimits: Sendable {
  /// Bytes of the request line and all header lines.
  var head = 16 << 10
  var headerLines = 64
  /// Bytes of a body.
  var body = 1 << 20
  /// Bytes of a binary in an answer; larger ones are not read.
  var binary = 64 << 20
  /// Connections at one time; one more is refused.
  var connections = 32
  /// How long a client may take to send its request's head.
  var headTime = Duration.seconds(5)
  /// How long a client may take to send its request's body.
  var bodyTime = Duration.seconds(10)
  /// How long a client may take to take an answer, or one part of a stream.
  var answerTime = Duration.seconds(30)
  /// How long a look into the store may take.
  var workTime = Duration.seconds(20)
  /// After how long without a connection the server stops.
  var idleTime = Duration.seconds(30 * 60)
}
