public import ArborModel

/// A value that identifies a version of a model: the model, its fingerprint or its version
/// identifier.
public protocol MigrationVersionName: Sendable {
  /// The version that this value identifies.
  var migrationVersion: MigrationVersion { get }
}

/// A version of a model, as the source or target of a ``MigrationStep``.
public struct MigrationVersion: Sendable, Hashable {
  enum Name: Sendable, Hashable {
    case model(ManagedObjectModel)
    case fingerprint(ModelFingerprint)
    case identifier(String)
  }

  let name: Name

  func model(among models: [ManagedObjectModel]) -> ManagedObjectModel? {
    switch name {
    case .model(let model): model
    case .fingerprint(let fingerprint): models.first { $0.fingerprint == fingerprint }
    case .identifier(let identifier): models.first { $0.versionIdentifier == identifier }
    }
  }
}

extension MigrationVersion: MigrationVersionName, CustomStringConvertible {
  /// The version itself.
  public var migrationVersion: MigrationVersion { self }

  /// The version identifier, or the fingerprint if the model has none.
  public var description: String {
    switch name {
    case .model(let model): model.versionName
    case .fingerprint(let fingerprint): "\(fingerprint)"
    case .identifier(let identifier): identifier
    }
  }
}

extension ManagedObjectModel: MigrationVersionName {
  /// The version of this model. Models with the same fingerprint are the same version.
  public var migrationVersion: MigrationVersion { MigrationVersion(name: .model(self)) }

  /// The version's name in messages.
  var versionName: String { versionIdentifier.isEmpty ? "\(fingerprint)" : versionIdentifier }
}

extension ModelFingerprint: MigrationVersionName {
  /// The version of the model with this fingerprint.
  public var migrationVersion: MigrationVersion { MigrationVersion(name: .fingerprint(self)) }
}

extension String: MigrationVersionName {
  /// The version of the model with this version identifier.
  public var migrationVersion: MigrationVersion { MigrationVersion(name: .identifier(self)) }
}
