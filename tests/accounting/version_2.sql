BEGIN TRANSACTION;
CREATE TABLE columns (
	sequence INTEGER NOT NULL, 
	dataset VARCHAR(255) NOT NULL, 
	name TEXT NOT NULL, 
	private BOOLEAN NOT NULL, 
	time VARCHAR(40) NOT NULL, 
	PRIMARY KEY (sequence), 
	UNIQUE (dataset, name), 
	FOREIGN KEY(dataset) REFERENCES datasets (name)
);
INSERT INTO "columns" VALUES(1,'heights','height',1,'2026-09-01T08:21:00.000000+00:00');
INSERT INTO "columns" VALUES(2,'heights','role',0,'2026-09-01T08:28:00.000000+00:00');
CREATE TABLE datasets (
	name VARCHAR(255) NOT NULL, 
	unit VARCHAR(255) NOT NULL, 
	time VARCHAR(40) NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "datasets" VALUES('heights','row','2026-09-01T08:14:00.000000+00:00');
INSERT INTO "datasets" VALUES('walks','person','2026-09-01T09:31:00.000000+00:00');
CREATE TABLE extras (
	spend INTEGER NOT NULL, 
	fields TEXT NOT NULL, 
	PRIMARY KEY (spend), 
	FOREIGN KEY(spend) REFERENCES spends (sequence)
);
INSERT INTO "extras" VALUES(3,'{"rho":0.01}');
INSERT INTO "extras" VALUES(4,'{"block":{"column":"role","values":["child"]}}');
CREATE TABLE meta (
	"key" VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('format','bayesdp-ledger');
INSERT INTO "meta" VALUES('version','2');
CREATE TABLE readings (
	sequence INTEGER NOT NULL, 
	dataset VARCHAR(255) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	reading TEXT NOT NULL, 
	time VARCHAR(40) NOT NULL, 
	PRIMARY KEY (sequence), 
	UNIQUE (dataset, "key"), 
	FOREIGN KEY(dataset) REFERENCES datasets (name)
);
INSERT INTO "readings" VALUES(1,'heights','b3ee6c95616b0227f88b2747171acbadbb49b930bb89f1270cfea6ce7a3d304f','{"adversary":"any","covers":[],"delta":1e-06,"independent":[],"interval":null,"notion":"dp","population":null,"secrets":"bounded","total":2}','2026-09-01T08:35:00.000000+00:00');
INSERT INTO "readings" VALUES(2,'heights','572eab458322fdfd936ff0155726700efee7235e17ff52d3256abca9e4decf72','{"adversary":"any","covers":["height"],"delta":1e-06,"independent":[],"interval":null,"notion":"bdp","population":{"length":3,"model":"markov","transition":[[0.9,0.1],[0.3,0.7]]},"secrets":"bounded","total":9}','2026-09-01T08:42:00.000000+00:00');
INSERT INTO "readings" VALUES(3,'walks','24126681a6efbd08fb35687e7ab5cd8e7fb2a8d2774581d8da275933edfd034a','{"adversary":"any","covers":[],"delta":0,"independent":[],"interval":null,"notion":"dp","population":null,"secrets":"bounded","total":1}','2026-09-01T09:38:00.000000+00:00');
CREATE TABLE refusals (
	sequence INTEGER NOT NULL, 
	dataset TEXT NOT NULL, 
	analyst TEXT NOT NULL, 
	study TEXT NOT NULL, 
	reason VARCHAR(32) NOT NULL, 
	time VARCHAR(40) NOT NULL, 
	PRIMARY KEY (sequence)
);
INSERT INTO "refusals" VALUES(1,'walks','Bo','first.toml','table','2026-09-01T08:07:00.000000+00:00');
INSERT INTO "refusals" VALUES(2,'heights','Cy','x.toml','budget','2026-09-01T09:24:00.000000+00:00');
CREATE TABLE refused_costs (
	refusal INTEGER NOT NULL, 
	dp_epsilon DOUBLE NOT NULL, 
	rho DOUBLE NOT NULL, 
	PRIMARY KEY (refusal), 
	FOREIGN KEY(refusal) REFERENCES refusals (sequence)
);
INSERT INTO "refused_costs" VALUES(2,50.0,0.0);
CREATE TABLE releases (
	sequence INTEGER NOT NULL, 
	id VARCHAR(32) NOT NULL, 
	dataset VARCHAR(255) NOT NULL, 
	analyst TEXT NOT NULL, 
	study TEXT NOT NULL, 
	request TEXT NOT NULL, 
	time VARCHAR(40) NOT NULL, 
	PRIMARY KEY (sequence), 
	UNIQUE (id), 
	FOREIGN KEY(dataset) REFERENCES datasets (name)
);
INSERT INTO "releases" VALUES(1,'c7ef8da11238408abe77ed45df79b171','heights','Ada','heights.toml','{"queries":["mean \u00fc","two"],"x":1}','2026-09-01T08:49:00.000000+00:00');
INSERT INTO "releases" VALUES(2,'c72d42b2aa3d4de5b75a3ced9a7d945b','heights','Bo','g.toml','{}','2026-09-01T09:03:00.000000+00:00');
INSERT INTO "releases" VALUES(3,'65b468c6d6fa4dda915d7b1b0c8b1ecc','heights','Ada','b.toml','{}','2026-09-01T09:10:00.000000+00:00');
INSERT INTO "releases" VALUES(4,'542a49d616ea4aa491f8392308e910e8','walks','Bo','w.toml','{"queries":["steps"]}','2026-09-01T09:45:00.000000+00:00');
CREATE TABLE results (
	release VARCHAR(32) NOT NULL, 
	result TEXT NOT NULL, 
	time VARCHAR(40) NOT NULL, 
	PRIMARY KEY (release), 
	FOREIGN KEY(release) REFERENCES releases (id)
);
INSERT INTO "results" VALUES('c7ef8da11238408abe77ed45df79b171','{"z": 1.0, "a": [0.1, null, "\u00fc"]}','2026-09-01T08:56:00.000000+00:00');
INSERT INTO "results" VALUES('c72d42b2aa3d4de5b75a3ced9a7d945b','{"value": 3}','2026-09-01T09:17:00.000000+00:00');
INSERT INTO "results" VALUES('542a49d616ea4aa491f8392308e910e8','{"value": 7}','2026-09-01T09:52:00.000000+00:00');
CREATE TABLE spends (
	sequence INTEGER NOT NULL, 
	release VARCHAR(32) NOT NULL, 
	"query" TEXT NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	dp_epsilon DOUBLE NOT NULL, 
	"column" TEXT, 
	lower DOUBLE, 
	upper DOUBLE, 
	slack DOUBLE NOT NULL, 
	mechanism TEXT NOT NULL, 
	dp_delta DOUBLE NOT NULL, 
	reads TEXT NOT NULL, 
	PRIMARY KEY (sequence), 
	FOREIGN KEY(release) REFERENCES releases (id)
);
INSERT INTO "spends" VALUES(1,'c7ef8da11238408abe77ed45df79b171','mean ü','any',0.25,NULL,NULL,NULL,0.0,'discrete-laplace',0.0,'["height"]');
INSERT INTO "spends" VALUES(2,'c7ef8da11238408abe77ed45df79b171','two','any',3.33333333333333314829e-01,NULL,NULL,NULL,0.0,'discrete-laplace',0.0,'["height"]');
INSERT INTO "spends" VALUES(3,'c72d42b2aa3d4de5b75a3ced9a7d945b','q','any',0.0,NULL,NULL,NULL,0.0,'discrete-gaussian',0.0,'["height"]');
INSERT INTO "spends" VALUES(4,'65b468c6d6fa4dda915d7b1b0c8b1ecc','q','any',0.125,NULL,NULL,NULL,0.0,'discrete-laplace',0.0,'["height"]');
INSERT INTO "spends" VALUES(5,'542a49d616ea4aa491f8392308e910e8','steps','lipschitz',0.5,'steps',0.0,10000.0,1.0e-09,'discrete-laplace',0.0,'["steps"]');
COMMIT;
