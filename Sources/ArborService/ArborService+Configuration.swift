public import ArborData
public import Logging
public import Metrics
public import Tracing

extension ArborService {
  /// The configuration of a service.
  public struct Configuration: Sendable {
    /// The maximum time that a graceful shutdown waits for running bodies. The default is 10
    /// seconds.
    ///
    /// The service group's own limit, `maximumGracefulShutdownDuration`, should be longer.
    public var shutdownLimit = Duration.seconds(10)
    /// The log and the interval of backups, or `nil`, the default, for none.
    public var backUps: BackUps?
    /// The interval at which the store is sampled for gauges, such as the file's size. The default
    /// is 15 seconds, the minimum 10 milliseconds. A sample takes a few hundred microseconds.
    public var sampling = Duration.seconds(15)
    /// The metrics factory. `nil`, the default, uses the one that the program has bootstrapped when
    /// the service is created.
    public var metrics: (any MetricsFactory)?
    /// The tracer of spans. `nil`, the default, uses the one that is bootstrapped when each span
    /// starts.
    public var tracer: (any Tracer)?
    /// The logger for the service's activity. Its metadata contains the store's name.
    public var logger = Logger(label: "ArborData.service")

    /// The minimum interval of samples and of backups.
    static let shortestInterval = Duration.milliseconds(10)

    /// Creates the default configuration.
    public init() {}
  }

  /// The log and the interval of a service's backups.
  ///
  /// A backup that fails is logged and counted. The next one adds what is missing.
  public struct BackUps: Sendable {
    /// The log to back up to.
    public var log: FolderLog
    /// The pause between two backups, at least 10 milliseconds. The first one is made when the
    /// service starts.
    public var interval: Duration
    /// A Boolean value that indicates whether a graceful shutdown makes a final backup with
    /// everything that bodies have committed.
    public var backsUpAtShutdown: Bool

    /// Creates a configuration of backups to a log.
    public init(
      to log: FolderLog, every interval: Duration = .seconds(60), atShutdown: Bool = true
    ) {
      self.log = log
      self.interval = interval
      backsUpAtShutdown = atShutdown
    }
  }
}
