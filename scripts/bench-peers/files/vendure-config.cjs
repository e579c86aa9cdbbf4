/** Vendure on better-sqlite3 with WAL, and its search in that database: `PORT` is where it listens, `SYNC=1` makes its tables. */
const { join } = require('node:path')
const { DefaultJobQueuePlugin, DefaultLogger, DefaultSearchPlugin, dummyPaymentHandler, LogLevel } = require('@vendure/core')

const data = join(__dirname, 'data')

exports.config = {
  apiOptions: { hostname: '127.0.0.1', port: Number(process.env.PORT), shopApiPath: 'shop-api', adminApiPath: 'admin-api' },
  authOptions: {
    tokenMethod: ['bearer'],
    superadminCredentials: { identifier: 'bench', password: process.env.SECRET },
    cookieOptions: { secret: process.env.SECRET },
  },
  dbConnectionOptions: {
    type: 'better-sqlite3',
    database: join(data, 'vendure.sqlite'),
    enableWAL: true,
    // As Stoa has it: with WAL nothing is lost when the program ends.
    prepareDatabase: (database) => void database.pragma('synchronous = NORMAL'),
    synchronize: process.env.SYNC === '1',
    migrations: [],
    logging: false,
  },
  importExportOptions: { importAssetsDir: join(data, 'assets') },
  logger: new DefaultLogger({ level: LogLevel.Error }),
  paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
  customFields: {},
  plugins: [
    DefaultJobQueuePlugin.init({ pollInterval: process.env.SYNC === '1' ? 10 : 200 }),
    DefaultSearchPlugin.init({ bufferUpdates: false }),
  ],
}
